"""Looks and the few lines of script of the HTML report. Colours are Okabe and Ito's, darkened or lightened so that they
reach a contrast of 3 to the page; what a colour says is said by a word or a sign as well."""

from __future__ import annotations

_LIGHT = """--page:#fff;--card:#f6f7f9;--ink:#16191d;--soft:#545c66;--line:#d9dde2;--link:#0a5c94;
--read:#0072b2;--write:#3592cb;--fresh:#c47d00;--untold:#838c96;--comp:#a8477f;--bad:#b84a00;--good:#00795a;
--amber:#8a5a00;--fan:#6a7480;--meter:#dfe3e8"""
_DARK = """--page:#111418;--card:#1a1f25;--ink:#e8eaed;--soft:#a3adb8;--line:#333b45;--link:#7cc4f5;
--read:#2b8fd0;--write:#7cc8f2;--fresh:#e69f00;--untold:#7f8994;--comp:#dd8fb9;--bad:#f0803c;--good:#3cc29a;
--amber:#e69f00;--fan:#9aa5b1;--meter:#2c343d"""

CSS = (
    f":root{{color-scheme:light;{_LIGHT}}}"
    f"@media screen and (prefers-color-scheme:dark){{:root{{color-scheme:dark;{_DARK}}}}}"
    """
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,
"Noto Sans",sans-serif;font-variant-numeric:tabular-nums}
main,header,footer,nav{max-width:1200px;margin:0 auto;padding:0 24px}
header{padding-top:28px}
h1{font-size:26px;line-height:1.2;margin:0 0 4px}
h2{font-size:19px;margin:40px 0 12px;padding-top:8px;border-top:1px solid var(--line)}
h3{font-size:15px;margin:26px 0 8px}
small,.soft,figcaption,footer{color:var(--soft)}
h2 small{font-weight:400;font-size:14px;margin-left:8px}
p{margin:6px 0}
a{color:var(--link)}
a:focus-visible,summary:focus-visible,.plot:focus-visible,.scroll:focus-visible{outline:2px solid var(--link);
outline-offset:2px}
nav{margin-top:14px}
nav a{margin-right:16px;white-space:nowrap}
.skip{position:absolute;left:-9999px}
.skip:focus{left:16px;top:8px;background:var(--page);padding:8px}
dl.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(128px,1fr));gap:10px;margin:20px 0 12px}
dl.tiles div{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:10px 14px}
dl.tiles dt{color:var(--soft);font-size:13px}
dl.tiles dd{margin:0;font-size:22px;line-height:1.3;font-weight:600}
dl.tiles dd small{display:block;font-size:13px;font-weight:400;line-height:1.3}
.mix{display:flex;height:14px;border-radius:4px;overflow:hidden;margin:14px 0 6px;background:var(--meter)}
.mix i{display:block;height:100%;border-right:1px solid var(--page)}
.mix i:last-child{border:0}
.read{background:var(--read);fill:var(--read)}.write{background:var(--write);fill:var(--write)}
.fresh{background:var(--fresh);fill:var(--fresh)}.untold{background:var(--untold);fill:var(--untold)}
.box{display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:6px}
.legend{display:flex;flex-wrap:wrap;gap:2px 18px;font-size:13px;color:var(--soft);margin:4px 0}
.scroll{overflow-x:auto;max-width:100%}
.scroll.tall{max-height:420px;overflow:auto}
table{border-collapse:collapse;width:100%;font-size:14px}
caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
th,td{padding:5px 9px;text-align:left;border-bottom:1px solid var(--line);white-space:nowrap;vertical-align:middle}
th{font-weight:500}
thead th{color:var(--soft);font-size:13px;border-bottom-width:2px}
tbody tr:hover{background:var(--card)}
.n,.calls th,.calls td{text-align:right}
.calls{font-size:13px}
.calls th:last-child,.calls td:last-child{text-align:left}
.calls th,.calls td{padding:2px 10px}
.calls thead th{position:sticky;top:0;background:var(--page)}
td .wrap{display:inline-block;white-space:normal;min-width:15em}
code{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.meter,.bar{display:inline-block;width:72px;height:9px;border-radius:3px;background:var(--meter);overflow:hidden;
vertical-align:middle}
.meter i,.bar i{display:block;height:100%;background:var(--read)}
.bar{width:120px;background:none}
.meter.high i{background:var(--fresh)}.meter.full i{background:var(--bad)}
.badge{display:inline-block;padding:1px 9px;border-radius:10px;border:1.5px solid currentColor;font-size:12px;
font-weight:650;letter-spacing:.02em;white-space:nowrap}
.a-continue,.ok{color:var(--good)}.a-trim,.a-compact_at_boundary,.soon{color:var(--amber)}
.a-compact_now,.bad{color:var(--bad)}.a-notes_new_window,.a-fresh{color:var(--comp)}
.spark{width:110px;height:26px;display:block}
.spark polyline{fill:none;stroke:var(--read);stroke-width:1.5;vector-effect:non-scaling-stroke;stroke-linejoin:round}
details>summary{cursor:pointer;padding:4px 0;color:var(--link)}
details.session{border:1px solid var(--line);border-radius:10px;margin:14px 0;padding:0 18px}
details.session[open]{padding-bottom:18px}
details.session>summary{padding:12px 0;color:var(--ink);display:flex;flex-wrap:wrap;gap:4px 16px;align-items:center}
details.session>summary::before{content:"▸";color:var(--soft);width:10px}
details.session[open]>summary::before{content:"▾"}
details.session>summary::-webkit-details-marker{display:none}
summary b{font-size:16px}
figure{margin:14px 0 4px}
figcaption{font-size:13px;margin-top:2px}
.readout{font-size:13px;min-height:21px;margin:8px 0 12px}
.readout b{font-weight:600}
.plot{padding-left:46px;padding-right:6px;touch-action:pan-y}
.grid{position:relative;height:270px}
.area{position:absolute;inset:0;border-bottom:1px solid var(--soft)}
.area svg,.strip svg{position:absolute;inset:0;width:100%;height:100%;overflow:visible}
.y{position:absolute;left:-46px;right:0;height:0;border-top:1px solid var(--line);font-size:12px;color:var(--soft);
line-height:0}
.y::first-line{line-height:0}
.gap{stroke:var(--page);stroke-width:1;vector-effect:non-scaling-stroke}
.reset{stroke:var(--comp);stroke-width:1.5;stroke-dasharray:4 3;vector-effect:non-scaling-stroke}
.fan{fill:var(--fan);opacity:.28}
.mid{fill:none;stroke:var(--fan);stroke-width:1.5;stroke-dasharray:5 4;vector-effect:non-scaling-stroke}
.limit,.above,.ahead,.at{position:absolute;font-weight:400;font-size:12px;pointer-events:none}
.limit{left:0;right:0;height:0;border-top:1.5px dashed var(--bad)}
.limit.window{border-top:1.5px solid var(--bad)}
.limit i,.above i,.ahead i{font-style:normal;background:var(--page);padding:0 5px;border-radius:3px;line-height:16px}
.limit i{position:absolute;left:8px;top:-9px;color:var(--bad)}
.limit.window i{left:auto;right:8px}
.above{top:2px;left:8px;color:var(--bad)}
.ahead{bottom:6px;right:6px;white-space:nowrap;color:var(--soft)}
.at{top:0;bottom:0;width:0;border-left:1.5px solid var(--ink)}
.marks{position:relative;height:19px}
.marks i,.strip i{position:absolute;transform:translateX(-50%);font-style:normal;font-size:12px;line-height:19px;
cursor:default}
.ev-c{color:var(--comp)}.ev-t{color:var(--amber)}.ev-s{color:var(--soft)}.ev-e,.strip i{color:var(--bad)}
.strip i{top:0;font-size:13px;line-height:15px;text-shadow:0 0 3px var(--page),0 0 3px var(--page),0 0 3px var(--page)}
.strip{position:relative;height:30px;background:var(--card);border-bottom:1px solid var(--line)}
.miss{stroke:var(--bad);stroke-width:1;vector-effect:non-scaling-stroke}
.axis{position:relative;height:20px;font-size:12px;color:var(--soft)}
.axis span{position:absolute;transform:translateX(-50%);top:2px}
.two{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,430px),1fr));gap:0 32px}
.card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:12px 16px;margin:8px 0}
.card h3{margin-top:2px}
.two>div>h3:first-child{margin-top:18px}
.list td{padding-top:7px;padding-bottom:7px}
.list small{display:block;font-size:12px;font-weight:400}
.card ul{margin:8px 0;padding-left:18px}
dl.facts{display:grid;grid-template-columns:max-content 1fr;gap:3px 16px;margin:8px 0}
dl.facts dt{color:var(--soft)}
dl.facts dd{margin:0}
ul.plain{list-style:none;padding:0;margin:6px 0}
ul.plain li{padding:2px 0}
footer{margin-top:44px;padding-top:14px;padding-bottom:40px;border-top:1px solid var(--line);font-size:13px}
@media (max-width:620px){main,header,footer,nav{padding-left:14px;padding-right:14px}
body{font-size:14px}h1{font-size:22px}details.session{padding:0 12px}.grid{height:210px}.ahead{display:none}
.plot{padding-left:38px;padding-right:2px}.y{left:-38px}dl.tiles{grid-template-columns:repeat(auto-fit,minmax(104px,1fr))}
dl.tiles dd{font-size:18px}dl.facts{gap:3px 10px}.legend{gap:0 12px}}
@media print{@page{margin:14mm}body{font-size:10.5pt;-webkit-print-color-adjust:exact;print-color-adjust:exact}
main,header,footer,nav{max-width:none;padding:0}nav,.skip,details:not(.session):not([open]),.at{display:none}
figure,.card,tr,dl.tiles{break-inside:avoid}h2,h3{break-after:avoid}a{color:inherit;text-decoration:none}
.scroll,.scroll.tall{overflow:visible;max-height:none}table{font-size:9pt}th,td{padding:3px 6px}
details.session{border:0;padding:0;margin:8px 0;border-top:1px solid var(--line)}.grid{height:200px}}
"""
)

#: the cursor on the pictures, fed by the table behind each; opens a session that a link leads to
JS = """
for(const plot of document.querySelectorAll('.plot')){
const area=plot.querySelector('.area'),line=plot.querySelector('.at'),table=document.getElementById(plot.dataset.table),
out=plot.parentNode.querySelector('.readout'),rows=table.tBodies[0].rows,span=+plot.dataset.span,calls=+plot.dataset.calls,
places=plot.dataset.places?plot.dataset.places.split(' ').map(Number):null,
heads=[...table.tHead.rows[0].cells].map(cell=>cell.textContent);let now=rows.length-1;
const place=n=>places?places[n]:n;
const read=n=>{now=Math.max(0,Math.min(rows.length-1,n));out.textContent='';
[...rows[now].cells].forEach((cell,k)=>{if(cell.textContent&&cell.textContent!=='–'){
const name=document.createElement('span');name.textContent=(k?' · ':'')+heads[k]+' ';name.className='soft';
const value=document.createElement('b');value.textContent=cell.textContent;out.append(name,value)}});
const end=now+1<rows.length?place(now+1):calls;
line.hidden=false;line.style.left=100*(place(now)+Math.min(end-place(now),1)/2)/span+'%'};
const find=x=>{const box=area.getBoundingClientRect(),at=(x-box.left)/box.width*span;if(!places)return Math.floor(at);
let low=0,high=places.length-1;
while(low<high){const mid=(low+high+1)>>1;if(places[mid]<=at)low=mid;else high=mid-1}return low};
plot.tabIndex=0;plot.setAttribute('role','group');
plot.setAttribute('aria-label','picture of the turns; left and right arrow keys read them out');
plot.addEventListener('pointermove',event=>read(find(event.clientX)));
plot.addEventListener('pointerdown',event=>read(find(event.clientX)));
plot.addEventListener('keydown',event=>{const step={ArrowLeft:-1,ArrowRight:1,PageUp:-10,PageDown:10}[event.key];
if(event.key==='Home')read(0);else if(event.key==='End')read(rows.length-1);else if(step)read(now+step);else return;
event.preventDefault();out.setAttribute('aria-live','polite')})}
const unfold=()=>{let target=null;try{target=document.querySelector(location.hash||null)}catch{}
for(let node=target;node;node=node.parentElement)if(node.tagName==='DETAILS')node.open=true;
if(target)target.scrollIntoView()};
addEventListener('hashchange',unfold);if(location.hash)unfold();
"""
