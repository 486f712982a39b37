"""Where the user's settings file is. Light: every command looks whether there is one."""

from __future__ import annotations

import os.path

NAMES = ("config.toml", "config.yaml", "config.yml")


def found() -> str | None:
    """The file in the most special place: ``$CTXMON_CONFIG_DIR``, ``$XDG_CONFIG_HOME/ctxmon``, ``%APPDATA%\\ctxmon``,
    ``~/.config/ctxmon``; None if there is none."""
    env = os.environ
    places = [env["CTXMON_CONFIG_DIR"]] if env.get("CTXMON_CONFIG_DIR") else []
    places += [os.path.join(env[name], "ctxmon") for name in ("XDG_CONFIG_HOME", "APPDATA") if env.get(name)]
    home = os.path.expanduser("~")
    if home != "~":  # nobody's
        places.append(os.path.join(home, ".config", "ctxmon"))
    files = (os.path.join(place, name) for place in places for name in NAMES)
    return next((file for file in files if os.path.isfile(file)), None)
