import { createStyle, document, type Html, html, type Palette } from '@ostiary/web-kit';
import type { Words } from './words.ts';

const rules = `
.brand{font:600 1.25rem/1.2 Georgia,"Times New Roman",serif}
.card{padding:28px}
.card>.button+.button,form>.button+.button{margin-top:12px}
.actions{grid-template-columns:repeat(auto-fit,minmax(min(100%,220px),1fr))}
.hello .initial{font-size:28px}
footer{padding-top:20px;padding-bottom:32px}
header,main,footer{max-width:1040px;margin:0 auto;padding:0 24px}
header{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:8px 24px;padding-top:24px;padding-bottom:24px}
.brand svg{width:36px;height:36px;flex:none}
nav{display:flex;flex-wrap:wrap;gap:4px 24px}
nav a{color:var(--muted)}
main{padding-top:16px;padding-bottom:48px}
.columns{display:grid;gap:40px;align-items:center}
@media (min-width:860px){.columns{grid-template-columns:1fr 420px;gap:64px;min-height:560px}}
h1{margin:0 0 16px;font:600 clamp(30px,5vw,46px)/1.12 Georgia,"Times New Roman",serif;letter-spacing:-.015em;text-wrap:balance}
h2{margin:0 0 4px;font:600 22px/1.3 Georgia,"Times New Roman",serif}
p{margin:0 0 16px;text-wrap:pretty}
.lead{font-size:18px;color:var(--muted);max-width:34em}
.small{font-size:14px;color:var(--muted)}
.narrow{max-width:560px;margin:24px auto}
h1.modest{font-size:26px}
.after{margin:16px 0 0}
.top{align-items:start!important}
.button+.button{margin-top:12px}
fieldset{border:0;margin:0 0 20px;padding:0}
legend{padding:0;margin-bottom:8px;font-size:14px;font-weight:600}
.choice{display:flex;gap:12px;align-items:flex-start;padding:8px 10px;margin:0 -10px;border-radius:10px;cursor:pointer}
.choice:hover{background:var(--well)}
.choice input{flex:none;width:20px;height:20px;margin:2px 0 0;accent-color:var(--brand)}
.choice span{display:block;font-size:15px;line-height:1.4}
.choice code{font-weight:600}
.choice small{display:block;font-size:13.5px;color:var(--muted)}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.92em}
pre{overflow:auto;margin:12px 0 0;padding:16px;border-radius:12px;background:var(--well);font-size:13px;line-height:1.5}
.grid{display:grid;gap:20px;grid-template-columns:repeat(auto-fill,minmax(min(100%,300px),1fr));margin:0 0 24px}
.grid .card{padding:22px}
.grid h2{font-family:inherit;display:flex;justify-content:space-between;gap:12px;margin:0 0 8px;font-size:16px;line-height:1.4}
.grid h2 code{font-weight:400;color:var(--muted);font-size:13px;white-space:nowrap}
.absent{background:transparent;box-shadow:none;border-style:dashed}
.grid dl{margin:0}
h2+p,h2+dl,h2+fieldset{margin-top:8px}
.hello{display:flex;align-items:center;gap:18px;margin:0 0 28px}
.hello .initial,.hello img{flex:none;width:64px;height:64px;border-radius:50%}
.hello h1{margin:0;font-size:clamp(26px,4vw,36px)}
.hello p{margin:4px 0 0;color:var(--muted)}
.actions .button+.button{margin:0}
.cashback{display:grid;gap:24px 40px;margin:0 0 20px}
@media (min-width:760px){.cashback{grid-template-columns:1fr 1fr}}
h3{margin:0 0 8px;font-size:16px;line-height:1.4}
.picks{display:grid;grid-template-columns:repeat(3,1fr);gap:10px}
.pick{position:relative;cursor:pointer}
.pick input{position:absolute;inset:0;width:100%;height:100%;margin:0;opacity:0;cursor:pointer}
.pick span{display:block;padding:12px 6px;text-align:center;font-weight:600;border:1px solid var(--border);border-radius:12px}
.pick small{font-weight:400;color:var(--muted)}
.pick input:checked+span{border-color:var(--accent);box-shadow:inset 0 0 0 1px var(--accent);background:var(--well)}
.pick input:focus-visible+span{outline:3px solid var(--accent);outline-offset:2px}
.transfers{list-style:none;margin:0;padding:0}
.transfer{padding:12px 0;border-top:1px solid var(--line)}
.transfer div{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:4px 12px}
.transfer p{margin:4px 0 0;overflow-wrap:anywhere}
.transfer form{margin:8px 0 0}
.small-button{min-height:40px;padding:6px 14px;font-size:15px}
.badge{padding:2px 10px;border-radius:999px;font-size:13.5px;font-weight:600;background:var(--well);color:var(--muted)}
.badge.good{background:var(--good-tint);color:var(--good)}
.badge.bad{background:var(--bad-tint);color:var(--bad)}
.stack{display:grid;gap:20px}
.stack .notice{margin:0 0 16px}
.field strong,.field small{display:block}
.field small{margin:0 0 8px;color:var(--muted)}
textarea{display:block;width:100%;margin:0 0 16px;padding:12px 14px;border:1px solid var(--border);border-radius:12px;background:var(--surface);
  color:inherit;resize:vertical;overflow-wrap:anywhere;font:13px/1.6 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.desk{min-height:0!important}
.desk>*{min-width:0}
@media (min-width:860px){.desk{grid-template-columns:1fr 360px!important;gap:20px!important}}
.desk .stack{align-content:start}
.desk dl{margin:0}
.heading{display:flex;align-items:center;justify-content:space-between;gap:12px;margin:0 0 8px}
.heading h2{margin:0}
.unseen{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.four{grid-template-columns:repeat(4,1fr)}
.empty{margin:24px 0;text-align:center;color:var(--muted)}
.events,.arrivals,.plain{list-style:none;margin:0;padding:0}
.event{padding:16px 0;border-top:1px solid var(--line)}
.event>div{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:4px 12px}
.event p{margin:4px 0 0;overflow-wrap:anywhere}
.event details{margin:8px 0 0}
.arrivals{margin:10px 0 0;font-size:14px}
.arrivals li{padding:4px 0 4px 12px;border-left:3px solid var(--border)}
.arrivals li.good{border-color:var(--good)}
.arrivals li.bad{border-color:var(--bad)}
.arrivals span{color:var(--muted);font-variant-numeric:tabular-nums}
.plain li{padding:8px 0;border-top:1px solid var(--line);font-size:15px;overflow-wrap:anywhere}
.plain+h3,.events+h3{margin-top:20px}
`;

const light: Palette = {
  canvas: '#faf6f0',
  surface: '#ffffff',
  well: '#f6efe6',
  text: '#231a13',
  muted: '#6a5b4e',
  line: '#eadfd2',
  border: '#978575',
};
const dark: Palette = {
  canvas: '#15100c',
  surface: '#1f1813',
  well: '#29201a',
  text: '#f5ede4',
  muted: '#bba999',
  line: '#382c23',
  border: '#8b7868',
};

/** Style sheet of the shop: its own colours, with the sizes of the web kit. */
const style = createStyle('#7a3b12', rules, { light, dark });

/** Hash of the style sheet, for the Content-Security-Policy. */
export const styleHash = style.hash;

const icon = encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 36 36"><circle cx="18" cy="18" r="18" fill="#7a3b12"/><path d="M10 15h13v6a5 5 0 0 1-5 5h-3a5 5 0 0 1-5-5zM23 17h1.500a2.500 2.500 0 0 1 0 5H23M14 11c0-1.500 1.500-1.500 1.500-3M18.500 11c0-1.500 1.500-1.500 1.500-3" fill="none" stroke="#fff" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"/></svg>',
);

const cup = html`<svg viewBox="0 0 36 36" aria-hidden="true"><circle cx="18" cy="18" r="18" fill="var(--brand)"/><path d="M10 15h13v6a5 5 0 0 1-5 5h-3a5 5 0 0 1-5-5zM23 17h1.500a2.500 2.500 0 0 1 0 5H23M14 11c0-1.500 1.500-1.500 1.500-3M18.500 11c0-1.500 1.500-1.500 1.500-3" fill="none" stroke="var(--on-brand)" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"/></svg>`;

/** Makes a whole HTML document of the shop. */
export function page(words: Words, title: string, content: Html, head: Html | null = null): string {
  return document(
    { language: words.language, title: `${title} · Kafe Lakay`, icon: `data:image/svg+xml,${icon}`, style },
    {
      head,
      body: html`<header><a class="brand" href="/">${cup}Kafe Lakay</a><nav aria-label="${words.pages}"><a href="/verify">${words.verify}</a><a href="/webhooks">${words.webhooks}</a><a href="/spa">${words.spa}</a></nav></header>
<main>
${content}
</main>
<footer>${words.footer}</footer>`,
    },
  );
}
