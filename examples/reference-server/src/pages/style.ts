import { createHash } from 'node:crypto';
import { mix, readable, textOn } from './colours.ts';

/** The one style sheet, and its hash for the content security policy. */
export interface Style {
  readonly css: string;
  readonly hash: string;
}

// The measures are those of Ostiary's own pages, so that sign-in and consent look like one place.
const rules = `
*,*::before,*::after{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;color-scheme:light dark;background:var(--canvas)}
body{margin:0;min-height:100vh;min-height:100dvh;padding:2rem 1rem;display:flex;flex-direction:column;align-items:center;
  gap:1.5rem;background:var(--canvas);color:var(--text);overflow-wrap:anywhere;-webkit-font-smoothing:antialiased;
  font:400 1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans",Arial,sans-serif}
.brand{display:flex;align-items:center;justify-content:center;min-height:2.5rem;max-width:100%}
.brand a{display:flex;align-items:center;gap:.75rem;color:inherit;text-decoration:none;font-size:1.125rem;font-weight:650;
  letter-spacing:-.01em;border-radius:.375rem}
.tile{width:2.25rem;height:2.25rem;flex:none;font-weight:650;font-size:18px}
.tile rect{fill:var(--brand);stroke:var(--accent)}
.tile text{fill:var(--on-brand)}
main{width:100%;max-width:30rem;padding:1.75rem 1.25rem;background:var(--surface);border:1px solid var(--line);
  border-radius:1.25rem;box-shadow:0 1px 2px rgb(16 22 34/5%),0 12px 32px -8px rgb(16 22 34/10%)}
h1{margin:0;font-size:1.5rem;line-height:1.25;font-weight:650;letter-spacing:-.015em;text-align:center;text-wrap:balance}
p{margin:0}
.lead{margin:.5rem 0 1.75rem;color:var(--muted);text-align:center;text-wrap:balance}
a{color:var(--accent);text-decoration-thickness:1px;text-underline-offset:.2em}
a:hover{text-decoration-thickness:2px}
.brand a:hover{text-decoration:none}
:focus-visible{outline:3px solid var(--accent);outline-offset:3px}
label{display:block;margin:0 0 .375rem;font-size:.9375rem;font-weight:600}
.field{margin:0 0 1.125rem}
input:not([type=hidden]){width:100%;min-height:3rem;padding:.625rem .875rem;font:inherit;color:inherit;
  background:var(--surface);border:1px solid var(--border);border-radius:.75rem}
input:focus-visible{outline-offset:1px}
input[aria-invalid]{border-color:var(--bad)}
.button{appearance:none;display:flex;align-items:center;justify-content:center;width:100%;min-height:3rem;
  padding:.625rem 1.25rem;font:inherit;font-weight:600;line-height:1.3;text-align:center;text-decoration:none;
  cursor:pointer;border:1px solid var(--border);border-radius:.75rem;background:var(--surface);color:var(--text)}
.button:hover{background:var(--well);border-color:var(--text)}
.primary{background:var(--brand);color:var(--on-brand);border-color:var(--accent)}
.primary:hover{background:var(--brand-hover);border-color:var(--accent)}
.field+.button{margin-top:1.5rem}
.actions{display:grid;gap:.75rem}
.notice{margin:0 0 1.5rem;padding:.75rem .875rem;border-radius:.875rem;font-size:.9375rem;background:var(--bad-tint);color:var(--bad)}
.person{display:flex;align-items:center;gap:.875rem;margin:0 0 1.25rem;padding:.75rem .875rem;background:var(--well);
  border:1px solid var(--line);border-radius:.875rem;line-height:1.35}
h1+.person{margin-top:1.5rem}
.person .initial{flex:none;display:grid;place-items:center;width:2.5rem;height:2.5rem;border-radius:50%;font-weight:650;
  font-size:1.125rem;background:var(--tint);color:var(--accent)}
.person strong{display:block;font-weight:600}
.person span{color:var(--muted);font-size:.875rem}
dl{margin:0 0 1.75rem}
dl div{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.125rem 1rem;padding:.625rem .125rem;
  border-bottom:1px solid var(--line);font-size:.9375rem}
dt{color:var(--muted)}
dd{margin:0 0 0 auto;font-weight:500;text-align:right}
.passport{margin:0 0 1.5rem;text-align:center}
.qr{display:block;width:100%;max-width:22rem;height:auto;margin:0 auto;border:1px solid var(--line);border-radius:.875rem}
.over .qr{opacity:.08}
.until{margin:1rem 0 0}
.until time{font-weight:600}
.over .until{color:var(--muted);text-decoration:line-through}
.countdown{margin:.25rem 0 0;color:var(--muted);font-variant-numeric:tabular-nums}
.passport .notice{margin:1rem 0 0}
details{margin:1.5rem 0 0}
summary{cursor:pointer;color:var(--accent)}
.hint{margin:.75rem 0;font-size:.875rem;color:var(--muted)}
.token{display:block;padding:.875rem;border-radius:.75rem;background:var(--well);overflow-wrap:anywhere;user-select:all;
  font:.8125rem/1.6 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
footer{max-width:30rem;font-size:.875rem;color:var(--muted);text-align:center;text-wrap:balance}
@media (min-width:34rem){body{padding:4rem 1.5rem;gap:1.75rem}main{padding:2.5rem}}
@media (prefers-color-scheme:dark){main{box-shadow:none}}
@media (prefers-reduced-motion:no-preference){.button{transition:background-color .15s,border-color .15s}}
@media (forced-colors:active){.tile rect{stroke:CanvasText}.tile text{fill:CanvasText}}
`;

const light = { canvas: '#f3f4f7', surface: '#ffffff', well: '#f7f8fa', text: '#151922', muted: '#545d6c' };
const dark = { canvas: '#0d1014', surface: '#161a20', well: '#1c2129', text: '#eceff4', muted: '#a7b0be' };
const lightRest = { line: '#e4e7ec', border: '#858e9d', bad: '#a1201b', 'bad-tint': '#fdecea' };
const darkRest = { line: '#2a303a', border: '#6f7a8b', bad: '#ffb4ab', 'bad-tint': '#3a1a18' };

function variables(values: Readonly<Record<string, string>>): string {
  return `:root{${Object.entries(values)
    .map(([name, value]) => `--${name}:${value}`)
    .join(';')}}`;
}

/** The style sheet for an accent colour, whatever it is: texts stay readable in both colour schemes. */
export function createStyle(colour: string): Style {
  const onBrand = textOn(colour);
  const brand = {
    brand: colour,
    'on-brand': onBrand,
    'brand-hover': mix(colour, onBrand === '#ffffff' ? '#000000' : '#ffffff', 0.16),
  };
  const lightTint = mix(light.surface, colour, 0.1);
  const darkTint = mix(dark.surface, colour, 0.22);
  const css = [
    variables({
      ...brand,
      ...light,
      ...lightRest,
      tint: lightTint,
      accent: readable(colour, lightTint, '#000000'),
    }),
    `@media (prefers-color-scheme:dark){${variables({
      ...dark,
      ...darkRest,
      tint: darkTint,
      accent: readable(colour, darkTint, '#ffffff'),
    })}}`,
    rules,
  ].join('\n');
  return { css, hash: `sha256-${createHash('sha256').update(css).digest('base64')}` };
}
