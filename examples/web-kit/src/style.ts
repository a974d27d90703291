import { createHash } from 'node:crypto';
import { mix, readableOn, readableText } from '@ostiary/core/pages';

/** A style sheet, and its hash for the Content-Security-Policy. */
export interface Style {
  readonly css: string;
  readonly hash: string;
}

// Style rules with the sizes of Ostiary's own pages, so that sign-in and consent look alike.
const rules = `
*,*::before,*::after{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;color-scheme:light dark;background:var(--canvas)}
body{margin:0;min-height:100vh;min-height:100dvh;background:var(--canvas);color:var(--text);overflow-wrap:anywhere;
  -webkit-font-smoothing:antialiased;
  font:400 1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans",Arial,sans-serif}
h1{margin:0;font-size:1.5rem;line-height:1.25;font-weight:650;letter-spacing:-.015em;text-wrap:balance}
p{margin:0}
a{color:var(--accent);text-decoration-thickness:1px;text-underline-offset:.2em}
a:hover{text-decoration-thickness:2px}
:focus-visible{outline:3px solid var(--accent);outline-offset:3px}
.brand a,a.brand{display:flex;align-items:center;gap:.75rem;color:inherit;text-decoration:none;font-size:1.125rem;font-weight:650;
  letter-spacing:-.01em;border-radius:.375rem}
.brand a:hover,a.brand:hover{text-decoration:none}
.card{background:var(--surface);border:1px solid var(--line);border-radius:1.25rem;
  box-shadow:0 1px 2px rgb(16 22 34/5%),0 12px 32px -8px rgb(16 22 34/10%)}
.button{appearance:none;display:flex;align-items:center;justify-content:center;width:100%;min-height:3rem;
  padding:.625rem 1.25rem;font:inherit;font-weight:600;line-height:1.3;text-align:center;text-decoration:none;
  cursor:pointer;border:1px solid var(--border);border-radius:.75rem;background:var(--surface);color:var(--text)}
.button:hover{background:var(--well);border-color:var(--text)}
.primary{background:var(--brand);color:var(--on-brand);border-color:var(--accent)}
.primary:hover{background:var(--brand-hover);border-color:var(--accent)}
.actions{display:grid;gap:.75rem}
.notice{margin:0 0 1.5rem;padding:.75rem .875rem;border-radius:.875rem;font-size:.9375rem;background:var(--bad-tint);color:var(--bad)}
.notice.good{background:var(--good-tint);color:var(--good)}
.initial{flex:none;display:grid;place-items:center;width:2.5rem;height:2.5rem;border-radius:50%;font-weight:650;
  font-size:1.125rem;background:var(--tint);color:var(--accent)}
dl{margin:0 0 1.75rem}
dl div{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.125rem 1rem;padding:.625rem .125rem;
  border-bottom:1px solid var(--line);font-size:.9375rem}
dt{color:var(--muted)}
dd{margin:0 0 0 auto;font-weight:500;text-align:right;overflow-wrap:anywhere}
details{margin:1.5rem 0 0}
summary{cursor:pointer;color:var(--accent)}
footer{font-size:.875rem;color:var(--muted)}
[hidden]{display:none!important}
@media (prefers-color-scheme:dark){.card{box-shadow:none}}
@media (prefers-reduced-motion:no-preference){.button{transition:background-color .15s,border-color .15s}}
`;

const light = {
  canvas: '#f3f4f7',
  surface: '#ffffff',
  well: '#f7f8fa',
  text: '#151922',
  muted: '#545d6c',
  line: '#e4e7ec',
  border: '#858e9d',
};
/** Neutral colours for light or dark pages, each as `#rrggbb`. */
export type Palette = Readonly<typeof light>;

const dark: Palette = {
  canvas: '#0d1014',
  surface: '#161a20',
  well: '#1c2129',
  text: '#eceff4',
  muted: '#a7b0be',
  line: '#2a303a',
  border: '#6f7a8b',
};
const lightSigns = { good: '#0b6640', 'good-tint': '#e6f5ed', bad: '#a1201b', 'bad-tint': '#fdecea' };
const darkSigns = { good: '#7fdcae', 'good-tint': '#12291f', bad: '#ffb4ab', 'bad-tint': '#3a1a18' };

function variables(values: Readonly<Record<string, string>>): string {
  return `:root{${Object.entries(values)
    .map(([name, value]) => `--${name}:${value}`)
    .join(';')}}`;
}

/** Makes the style sheet for any accent colour. Texts stay readable in both colour schemes. */
export function createStyle(
  colour: string,
  moreRules: string,
  palettes: { readonly light: Palette; readonly dark: Palette } = { light, dark },
): Style {
  const onBrand = readableOn(colour);
  const tints = {
    light: mix(palettes.light.surface, colour, 0.1),
    dark: mix(palettes.dark.surface, colour, 0.22),
  };
  const css = [
    variables({
      brand: colour,
      'on-brand': onBrand,
      'brand-hover': mix(colour, onBrand === '#ffffff' ? '#000000' : '#ffffff', 0.16),
      ...palettes.light,
      ...lightSigns,
      tint: tints.light,
      accent: readableText(colour, [tints.light], '#000000', 4.5),
    }),
    `@media (prefers-color-scheme:dark){${variables({
      ...palettes.dark,
      ...darkSigns,
      tint: tints.dark,
      accent: readableText(colour, [tints.dark], '#ffffff', 4.5),
    })}}`,
    rules,
    moreRules,
  ].join('\n');
  return { css, hash: `sha256-${createHash('sha256').update(css).digest('base64')}` };
}
