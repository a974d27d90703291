import { createStyle, type Style } from '@ostiary/web-kit';

const rules = `
body{padding:2rem 1rem;display:flex;flex-direction:column;align-items:center;gap:1.5rem}
.brand{display:flex;align-items:center;justify-content:center;min-height:2.5rem;max-width:100%}
.tile{width:2.25rem;height:2.25rem;flex:none;font-weight:650;font-size:18px}
.tile rect{fill:var(--brand);stroke:var(--accent)}
.tile text{fill:var(--on-brand)}
.tile.app{display:block;width:3.5rem;height:3.5rem;margin:0 auto .875rem}
.tile.app rect{fill:var(--well);stroke:var(--line)}
.tile.app text{fill:var(--text)}
main{width:100%;max-width:30rem;padding:1.75rem 1.25rem}
h1,.lead,footer{text-align:center;text-wrap:balance}
.lead{margin:.5rem 0 1.75rem;color:var(--muted)}
.lead strong{color:var(--text);font-weight:600}
label{align-self:end;font-size:.9375rem;font-weight:600}
.field{display:grid;grid-template-columns:1fr auto;gap:.375rem .75rem;margin:0 0 .375rem}
.field input{grid-area:2/1/3/3}
.reveal{grid-area:1/2;display:flex;align-items:center;gap:.375rem;min-height:2rem;margin:0 -.5rem -.125rem 0;padding:.125rem .5rem;
  font:inherit;font-size:.875rem;color:var(--accent);background:none;border:0;border-radius:.5rem;cursor:pointer}
.reveal:hover{text-decoration:underline}
.reveal[aria-pressed=true]{background:var(--tint)}
.reveal svg{width:1.25rem;height:1.25rem;flex:none;fill:none;stroke:currentColor;stroke-width:1.6;stroke-linecap:round;stroke-linejoin:round}
[aria-pressed=true] .slash{display:none}
input:not([type=hidden]){width:100%;min-height:3rem;padding:.625rem .875rem;font:inherit;color:inherit;
  background:var(--surface);border:1px solid var(--border);border-radius:.75rem}
input:focus-visible{outline-offset:1px}
input[aria-invalid]{border-color:var(--bad)}
.field+.button{margin-top:.375rem}
.person{display:flex;align-items:center;gap:.875rem;margin:0 0 1.25rem;padding:.75rem .875rem;background:var(--well);
  border:1px solid var(--line);border-radius:.875rem;line-height:1.35}
h1+.person{margin-top:1.5rem}
.person strong{display:block;font-weight:600}
.person span{color:var(--muted);font-size:.875rem}
.passport{margin:0 0 1.5rem;text-align:center}
.qr{display:block;width:100%;max-width:22rem;height:auto;margin:0 auto;border:1px solid var(--line);border-radius:.875rem}
.over .qr{opacity:.08}
.until{margin:1rem 0 0}
.until time{font-weight:600}
.over .until{color:var(--muted);text-decoration:line-through}
.countdown{margin:.25rem 0 0;color:var(--muted);font-variant-numeric:tabular-nums}
.passport .notice{margin:1rem 0 0}
.hint{margin:.75rem 0;font-size:.875rem;color:var(--muted)}
.token{display:block;padding:.875rem;border-radius:.75rem;background:var(--well);overflow-wrap:anywhere;user-select:all;
  font:.8125rem/1.6 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
footer{max-width:30rem}
@media (min-width:34rem){body{padding:4rem 1.5rem;gap:1.75rem}main{padding:2.5rem}}
@media (forced-colors:active){.tile rect{stroke:CanvasText}.tile text{fill:CanvasText}}
`;

/** The style sheet of this server's pages. */
export const pageStyle = (colour: string): Style => createStyle(colour, rules);
