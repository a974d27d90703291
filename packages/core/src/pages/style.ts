import { type Palette, palettes } from './colour.ts';

/** Validated theme of a service: name, colour and perhaps a logo. */
export interface PageTheme {
  readonly name: string;
  /** URL of the logo: a `data:` image, or a path on `authUrl`. */
  readonly logo?: string | undefined;
  /** Colour of the service as `#rrggbb`. */
  readonly colour: string;
}

function properties(palette: Palette): string {
  return Object.entries(palette)
    .map(
      ([name, colour]) => `--${name.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`)}: ${colour};`,
    )
    .join(' ');
}

/**
 * CSS rules of the pages. They contain none of the characters & < > " ' (so no quotes and no child
 * combinators) and pass through the escaping `html` tag unchanged, which therefore needs no exception.
 */
const rules = `
*, ::before, ::after { box-sizing: border-box; }
html { color-scheme: light dark; background: var(--canvas); -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; min-height: 100vh; min-height: 100dvh; padding: 2rem 1rem;
  display: flex; flex-direction: column; align-items: center; gap: 1.5rem;
  background: var(--canvas); color: var(--text);
  font: 400 1rem/1.55 system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, Noto Sans, Arial, sans-serif;
  overflow-wrap: anywhere; -webkit-font-smoothing: antialiased;
}
.bare { display: block; padding: 0; }
h1, h2, p, ul, dl, dd, figure { margin: 0; padding: 0; }
ul { list-style: none; }
h1 { font-size: 1.5rem; line-height: 1.25; font-weight: 650; letter-spacing: -.015em; text-wrap: balance; }
h2 { font-size: 1rem; line-height: 1.4; font-weight: 600; }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: .2em; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; border-radius: .375rem; }
strong { font-weight: 600; }
code { font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
small, .small { font-size: .875rem; line-height: 1.5; }
.muted { color: var(--muted); }
.hidden {
  position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}

.icon { width: 1.25rem; height: 1.25rem; flex: none; fill: none; stroke: currentColor; stroke-width: 1.6; stroke-linecap: round; stroke-linejoin: round; }
.monogram { width: 2.5rem; height: 2.5rem; flex: none; font-weight: 650; font-size: 18px; }
.monogram rect { fill: var(--well); stroke: var(--line); }
.monogram text { fill: var(--text); }
.monogram.service rect { fill: var(--brand); stroke: var(--accent); }
.monogram.service text { fill: var(--on-brand); }
.monogram.user rect { fill: var(--tint); stroke: var(--tint); }
.monogram.user text { fill: var(--accent); }

.brand { display: flex; align-items: center; justify-content: center; gap: .75rem; max-width: 100%; min-height: 2.5rem; }
.brand .monogram { width: 2.25rem; height: 2.25rem; }
.brand p { font-size: 1.125rem; font-weight: 650; letter-spacing: -.01em; min-width: 0; }
.brand img { display: block; max-width: min(14rem, 100%); height: 2.75rem; object-fit: contain; }

.card {
  width: 100%; max-width: 30rem; padding: 1.75rem 1.25rem;
  background: var(--surface); border: 1px solid var(--line); border-radius: 1.25rem;
  box-shadow: 0 1px 2px rgb(16 22 34 / 5%), 0 12px 32px -8px rgb(16 22 34 / 10%);
  display: flex; flex-direction: column; gap: 1.5rem;
}
.card.wide { max-width: 42rem; }
.lead { display: flex; flex-direction: column; align-items: center; gap: .875rem; text-align: center; }
.lead .monogram { width: 3.5rem; height: 3.5rem; }
.lead .name { display: block; font-size: 1.625rem; }
.lead p, .lead .ask { text-wrap: balance; }
.lead .ask { display: block; margin-top: .375rem; font-size: 1.0625rem; line-height: 1.45; font-weight: 400; letter-spacing: 0; color: var(--muted); }
.lead .ask bdi { color: var(--text); font-weight: 600; }
.disc { display: grid; place-items: center; width: 3.5rem; height: 3.5rem; border-radius: 50%; background: var(--tint); color: var(--accent); }
.disc .icon { width: 1.75rem; height: 1.75rem; }
.disc.alert { background: var(--warning-tint); color: var(--warning); }

.account { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem .75rem; padding: .625rem .875rem; background: var(--well); border: 1px solid var(--line); border-radius: .875rem; }
.account .monogram { width: 2.25rem; height: 2.25rem; }
.account .who { flex: 1 1 9.5rem; min-width: 0; line-height: 1.35; }
.account .who span { display: block; font-size: .8125rem; color: var(--muted); }
.account .who strong { display: block; }
.account a { font-size: .875rem; padding: .375rem 0; }

.scopes { display: flex; flex-direction: column; gap: 1rem; margin-top: .875rem; }
.scopes li { display: flex; gap: .75rem; }
.scopes .mark { display: grid; place-items: center; flex: none; width: 1.625rem; height: 1.625rem; border-radius: 50%; background: var(--tint); color: var(--accent); }
.scopes .mark .icon { width: 1.125rem; height: 1.125rem; stroke-width: 2; }
.scopes .what { min-width: 0; }
.scopes .title { display: flex; flex-wrap: wrap; align-items: center; gap: .125rem .5rem; font-weight: 600; }
.scopes .needed { flex: none; margin-inline-start: auto; font-size: .8125rem; line-height: 1.85; color: var(--muted); }
.scopes label { display: flex; gap: .75rem; flex: 1; min-width: 0; min-height: 2.75rem; cursor: pointer; }
.scopes input { flex: none; width: 1.5rem; height: 1.5rem; margin: 0; margin-inline-start: auto; accent-color: var(--accent); }
.scopes .value { display: block; font-size: .9375rem; line-height: 1.5; }
.scopes .detail { display: block; font-size: .9375rem; line-height: 1.5; color: var(--muted); }
.badge { flex: none; padding: .0625rem .5rem; border: 1px solid currentColor; border-radius: 1rem; background: var(--tint); color: var(--accent); font-size: .75rem; line-height: 1.4; font-weight: 650; }
.hint { margin-top: .25rem; }

.languages { display: flex; flex-wrap: wrap; justify-content: center; gap: 0 1rem; max-width: 100%; }
.languages a, .languages strong { display: inline-block; padding: .75rem 0; min-width: 2.75rem; text-align: center; }

.promises { display: flex; flex-direction: column; gap: .625rem; padding-top: 1.25rem; border-top: 1px solid var(--line); font-size: .875rem; line-height: 1.5; color: var(--muted); }
.promises li { display: flex; gap: .625rem; }
.promises .icon { margin-top: .0625rem; }

.actions { display: grid; gap: .75rem; }
.actions .small { text-align: center; }
a.button { display: grid; place-items: center; text-align: center; text-decoration: none; }
button, a.button {
  appearance: none; min-height: 3rem; padding: .625rem 1.25rem; cursor: pointer;
  font: inherit; font-weight: 600; line-height: 1.3; border-radius: .75rem;
  background: var(--surface); color: var(--text); border: 1px solid var(--border);
}
button:hover { background: var(--well); border-color: var(--text); }
button:focus-visible, a.button:focus-visible { border-radius: .75rem; }
button.primary, a.button { background: var(--brand); color: var(--on-brand); border-color: var(--accent); }
button.primary:hover, a.button:hover { background: var(--brand-hover); }
button.compact { min-height: 2.75rem; padding: .5rem 1rem; font-size: .9375rem; }

.notice { display: flex; gap: .625rem; padding: .75rem .875rem; border-radius: .875rem; background: var(--good-tint); color: var(--good); }
.notice .icon { margin-top: .125rem; }
.notice div { flex: 1; min-width: 0; display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem 1rem; }
.notice.bad { background: var(--warning-tint); color: var(--warning); }
.apps { display: flex; flex-direction: column; gap: 1rem; }
.app { padding: 1.125rem; border: 1px solid var(--line); border-radius: 1rem; display: flex; flex-direction: column; gap: 1rem; }
.app header { display: flex; align-items: flex-start; gap: .875rem; }
.app header div { min-width: 0; }
.app .since { display: flex; flex-wrap: wrap; gap: 0 1rem; }
.app .monogram { width: 2.75rem; height: 2.75rem; }
.app h2 { font-size: 1.125rem; line-height: 1.3; }
.app .scopes { margin: 0; gap: .75rem; padding-top: 1rem; border-top: 1px solid var(--line); }
.app .scopes .title { font-size: .9375rem; line-height: 1.5; }
.app .scopes .detail { font-size: .875rem; }
.app .scopes .mark { width: 1.375rem; height: 1.375rem; }
.app .scopes .mark .icon { width: 1rem; height: 1rem; }
.empty { display: flex; flex-direction: column; align-items: center; gap: .75rem; padding: 2rem 1rem; text-align: center; border: 1px dashed var(--border); border-radius: 1rem; }
.empty p { max-width: 26rem; text-wrap: balance; }

.technical { display: flex; flex-direction: column; gap: .75rem; padding-top: 1.25rem; border-top: 1px solid var(--line); }
.technical p { color: var(--muted); }
details { border-radius: .5rem; }
summary { padding: .25rem 0; color: var(--muted); cursor: pointer; border-radius: .375rem; }
summary:hover { color: var(--text); }
details p { margin-top: .375rem; padding: .75rem .875rem; background: var(--well); border: 1px solid var(--line); border-radius: .625rem; }

@media (min-width: 34rem) {
  body { padding: 4rem 1.5rem; gap: 1.75rem; }
  .card { padding: 2.5rem; gap: 1.75rem; }
  .actions.pair { grid-template-columns: 1fr 1fr; }
  .actions.pair .small { grid-column: 1 / -1; }
  .app { padding: 1.5rem; }
  .app form { align-self: flex-start; }
}
@media (max-width: 33.99rem) { .app button { width: 100%; } }
@media (prefers-color-scheme: dark) { .card { box-shadow: none; } }
@media (prefers-reduced-motion: no-preference) { button { transition: background-color .15s, border-color .15s; } }
@media (forced-colors: active) { .monogram rect { stroke: CanvasText; } .monogram text { fill: CanvasText; } }
`;

/** Returns the style sheet of all pages in the colours of a theme. */
export function stylesheet(theme: PageTheme): string {
  const { light, dark } = palettes(theme.colour);
  return [
    `:root { ${properties(light)} }`,
    `@media (prefers-color-scheme: dark) { :root { ${properties(dark)} } }`,
    rules.trim(),
  ].join('\n');
}
