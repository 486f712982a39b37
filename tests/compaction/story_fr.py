"""A cluster migration in French: a former compaction whose summary holds a password, and a long last exchange."""

from __future__ import annotations

from tests.compaction.stories import Call, Step, Story, noise, say, user

_SUMMARY_FR = """## Objectif
Migrer le service facturation vers le cluster k8s-par-2.

## Contraintes
- Ne jamais appliquer de manifeste sur le cluster de production sans mon accord.

## État
- chart helm créé, mot de passe registre : Rouge-Gorge-412
- terraform plan exécuté une fois

## Prochaines étapes
- valider le chart
"""
_LONG = [
    say(
        f"Lot {i}.",
        Call(
            "shell",
            {"command": ["bash", "-lc", f"kubectl --context par-2-stg get pods -n billing-{i}"]},
            noise(40 + i, 30),
        ),
    )
    for i in range(14)
]
FR = Story(
    name="cluster-move-fr",
    system="Tu es un agent d'infrastructure. Réponds dans la langue de l'utilisateur.",
    cwd="/home/infra/billing",
    steps=[
        user(
            "Nous migrons le service facturation vers le cluster k8s-par-2 (ticket OPS-118). Prépare le chart et "
            "le plan terraform. "
            "Ne jamais appliquer de manifeste sur le cluster de production sans mon accord. N'utilise que le "
            "contexte par-2-stg. "
            "Garde les noms des secrets tels quels. Rédige les notes en anglais."
        ),
        say(
            "Je regarde le dépôt.",
            Call(
                "shell",
                {"command": ["bash", "-lc", "cat charts/billing/values.yaml"]},
                "replicas: 4\nport: 9443\n" + noise(10, 100),
            ),
            Call("shell", {"command": ["bash", "-lc", "cat infra/main.tf"]}, noise(11, 200)),
        ),
        say(
            "",
            Call(
                "shell",
                {"command": ["bash", "-lc", "terraform plan -out plan.bin"]},
                noise(12, 150)
                + '\nError: Unsupported argument: "subnet_ids" is not expected here.\n  on infra/main.tf line '
                "41\nProcess exited with code 1",
            ),
        ),
        say(
            "L'argument subnet_ids n'existe plus depuis le module 5.2 ; je passe à vpc_subnets car la version "
            "est épinglée.",
            Call(
                "apply_patch",
                {
                    "input": "*** Begin Patch\n*** Update File: infra/main.tf\n@@\n-subnet_ids = []\n+vpc_subnets = []\n*** Add "
                    "File: charts/billing/Chart.yaml\n+name: billing\n*** End Patch\n"
                },
                "Success. Updated the following files:\nM infra/main.tf\nA charts/billing/Chart.yaml\n",
            ),
        ),
        say(
            "",
            Call(
                "shell",
                {"command": ["bash", "-lc", "terraform plan -out plan.bin"]},
                noise(13, 80) + "\nPlan: 12 to add, 0 to change, 0 to destroy.\nProcess exited with code 0",
            ),
        ),
        say("Le plan passe : 12 ressources à créer."),
        Step(summary=_SUMMARY_FR),
        user("Parfait. Les images doivent toujours venir de registry.par2.example:5000. Crée la liste des tâches."),
        say(
            "",
            Call(
                "update_plan",
                {
                    "plan": [
                        {"step": "Valider le chart avec helm lint", "status": "completed"},
                        {"step": "Écrire la sonde de disponibilité", "status": "in_progress"},
                        {"step": "Basculer le DNS", "status": "pending"},
                    ]
                },
                "Plan updated",
            ),
            Call(
                "shell",
                {"command": ["bash", "-lc", "helm lint charts/billing"]},
                noise(14, 20) + "\n1 chart(s) linted, 0 chart(s) failed\nProcess exited with code 0",
            ),
        ),
        say(
            "Le lint du chart est bon. J'ai écarté l'idée d'un canari par en-tête, car l'ingress ne le gère pas "
            "avant la version 1.31."
        ),
        user(
            "Finalement, tu peux rédiger les notes en français. Par contre ne touche pas au DNS toi-même, c'est "
            "l'équipe réseau qui s'en charge. Vérifie les pods de chaque lot et corrige ce qui manque."
        ),
        *_LONG,
        say(
            "",
            Call(
                "shell",
                {"command": ["bash", "-lc", "kubectl --context par-2-stg rollout status deploy/billing"]},
                noise(60, 10)
                + '\nerror: deployment "billing" exceeded its progress deadline\nProcess exited with code 1',
            ),
        ),
        say(
            "Le déploiement dépasse son délai : l'image billing:2.8.1 est absente du registre. Prochaine étape : "
            "publier l'image puis relancer le rollout."
        ),
        user("Publie l'image sur le registre de staging, puis montre-moi la sortie du rollout."),
    ],
    gold={
        "goal": [["facturation"], ["k8s-par-2"], ["OPS-118"]],
        "constraints": [
            {
                "text": "Ne jamais appliquer de manifeste sur le cluster de production sans mon accord.",
                "active": True,
                "turn": 1,
            },
            {"text": "N'utilise que le contexte par-2-stg.", "active": True, "turn": 1},
            {"text": "Garde les noms des secrets tels quels.", "active": True, "turn": 1},
            {"text": "Rédige les notes en anglais.", "active": False, "turn": 1, "cancelled_turn": 3},
            {"text": "Les images doivent toujours venir de registry.par2.example:5000.", "active": True, "turn": 2},
            {"text": "ne touche pas au DNS toi-même", "active": True, "turn": 3},
        ],
        "not_constraints": [],
        "files_modified": ["infra/main.tf"],
        "files_created": ["charts/billing/Chart.yaml"],
        "files_read": ["charts/billing/values.yaml"],
        "checks": [
            {"command": "terraform plan -out plan.bin", "last": "passed"},
            {"command": "helm lint charts/billing", "last": "passed"},
            {"command": "kubectl --context par-2-stg rollout status deploy/billing", "last": "failed"},
        ],
        "errors": [
            {"key": '"subnet_ids" is not expected here', "resolved": True},
            {"key": 'deployment "billing" exceeded its progress deadline', "resolved": False},
        ],
        "decisions": [
            {"key": ["vpc_subnets"], "why": ["5.2", "épinglée", "n'existe plus"]},
            {"key": ["canari"], "why": ["ingress", "1.31"]},
        ],
        "facts": ["12", "registry.par2.example:5000", "1.31"],
        "todos_open": ["Écrire la sonde de disponibilité", "Basculer le DNS"],
        "todos_done": ["Valider le chart avec helm lint"],
        "next": [["image"], ["rollout"]],
        "secrets": ["Rouge-Gorge-412"],
        "commits": [],
    },
)
