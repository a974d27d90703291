import { type PageTheme, stylesheet } from '@ostiary/core/pages';
import { type Asset, assetOf } from './assets.ts';

/** Style rules of the console, in addition to those of all pages. */
const rules = `
[hidden] { display: none !important; }
h3 { margin: 0; font-size: 1rem; font-weight: 600; }
.console { width: 100%; max-width: 68rem; display: grid; gap: 1.25rem; grid-template-columns: minmax(0, 1fr); }
.console.one { max-width: 42rem; }
.console .bar { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1rem; min-width: 0; }
.console .bar h1, .console .bar .crumbs { flex-basis: 100%; min-width: 0; }
.facts { display: grid; grid-template-columns: fit-content(45%) minmax(0, 1fr); gap: .5rem 1rem; margin: 0; }
.facts dd { margin: 0; overflow-wrap: anywhere; }
legend { padding: 0; }
.option input { margin: 0; }
a code { text-underline-offset: .35em; }
.panel { padding: 1.25rem; background: var(--surface); border: 1px solid var(--line); border-radius: 1.25rem; display: flex; flex-direction: column; gap: 1rem; min-width: 0; }
.panel h2 { font-size: 1.125rem; }
.panel .head { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem 1rem; }
.panel .empty { padding: 1.5rem 1rem; }
.column { display: flex; flex-direction: column; gap: 1.25rem; min-width: 0; }
.pulse { font-size: .875rem; color: var(--good); display: flex; align-items: center; gap: .5rem; }
.pulse .dot { width: .5rem; height: .5rem; border-radius: 50%; background: currentColor; flex: none; }
.pulse[data-state=lost] { color: var(--warning); }
.pulse .off, .pulse[data-state=lost] .on { display: none; }
.pulse[data-state=lost] .off { display: inline; }
.notice.bad { background: var(--warning-tint); color: var(--warning); }
.notice p { min-width: 0; }

.state { display: inline-flex; align-items: center; gap: .375rem; padding: .125rem .625rem; border: 1px solid currentColor; border-radius: 1rem; font-size: .8125rem; line-height: 1.4; font-weight: 600; white-space: nowrap; }
.state.delivered, .state.enabled { background: var(--good-tint); color: var(--good); }
.state.pending { background: var(--tint); color: var(--accent); }
.state.cancelled, .state.disabled, .state.none { background: var(--well); color: var(--muted); }
.states { display: flex; flex-wrap: wrap; gap: .375rem; }

.rows { display: flex; flex-direction: column; }
.rows li { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .375rem 1rem; padding: .75rem 0; border-top: 1px solid var(--line); }
.rows li:first-child { border-top: 0; padding-top: 0; }
.rows li:last-child { padding-bottom: 0; }
.rows .what { flex: 1 1 14rem; min-width: 0; }
.rows .what a { font-weight: 600; }
.rows .what span { display: block; font-size: .875rem; color: var(--muted); }
.pages { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .5rem 1rem; }

.field { display: flex; flex-direction: column; gap: .375rem; }
.field label, fieldset legend { font-weight: 600; font-size: .9375rem; }
.field .small, fieldset .small { color: var(--muted); }
input, select, textarea { font: inherit; width: 100%; min-height: 2.75rem; padding: .5rem .75rem; border: 1px solid var(--border); border-radius: .625rem; background: var(--surface); color: var(--text); }
textarea { font: .875rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; min-height: 16rem; resize: vertical; tab-size: 2; }
details form { margin-top: .75rem; }
details .field p { margin: 0; padding: 0; border: 0; background: none; }
textarea.short { min-height: 5.5rem; }
[aria-invalid=true] { border-color: var(--warning); }
fieldset { margin: 0; padding: 0; border: 0; min-width: 0; display: flex; flex-direction: column; gap: .25rem; }
.option { display: flex; align-items: center; gap: .625rem; min-height: 2.25rem; cursor: pointer; }
input[type=checkbox] { width: 1.25rem; min-height: 1.25rem; height: 1.25rem; flex: none; accent-color: var(--accent); }
.notice.bad a { color: inherit; }
.wrong { display: flex; gap: .5rem; }
.field .wrong, fieldset .wrong { color: var(--warning); font-weight: 600; }
.field .option { font-weight: 400; font-size: 1rem; }
.wrong .icon { width: 1.125rem; height: 1.125rem; margin-top: .125rem; }
.wrong a { color: inherit; }
[aria-invalid=true] { border-color: var(--warning); box-shadow: inset 0 0 0 1px var(--warning); }
.once { padding: .75rem .875rem; background: var(--well); border: 1px solid var(--line); border-radius: .625rem; }
.once code { user-select: all; overflow-wrap: anywhere; }
.form { display: flex; flex-direction: column; gap: 1.25rem; }
.row { display: flex; flex-wrap: wrap; align-items: center; gap: .75rem; }
.row button { flex: 0 1 auto; }
.filter { flex: 0 1 24rem; display: flex; align-items: center; gap: .5rem; font-size: .9375rem; }
.filter select { flex: 1 1 4rem; min-width: 0; }

.delivery { padding: 1rem 1.125rem; border: 1px solid var(--line); border-radius: 1rem; display: flex; flex-direction: column; gap: .875rem; }
.deliveries { display: flex; flex-direction: column; gap: 1rem; margin: 0; padding: 0; list-style: none; }
.delivery .to { flex: 1 1 16rem; min-width: 0; }
.delivery .to span { display: block; font-size: .875rem; color: var(--muted); }
.timeline { margin: 0; padding: 0; list-style: none; display: flex; flex-direction: column; }
.timeline li { position: relative; padding-block-end: 1.125rem; padding-inline-start: 1.75rem; }
.timeline li:last-child { padding-bottom: 0; }
.timeline .bead { position: absolute; inset-inline-start: .25rem; top: .4rem; width: .75rem; height: .75rem; border-radius: 50%; background: var(--muted); }
.timeline .bead.good { background: var(--good); }
.timeline .bead.bad { background: var(--warning); }
.timeline .bead.next { background: var(--surface); border: 2px solid var(--accent); }
.timeline .rail { position: absolute; inset-inline-start: .575rem; top: 1.25rem; bottom: -.3rem; width: 1px; background: var(--border); }
.timeline li:last-child .rail { display: none; }
.timeline .facts { display: flex; flex-wrap: wrap; gap: 0 .75rem; align-items: baseline; }
.timeline .facts span { color: var(--muted); font-size: .875rem; }
.timeline p { margin-top: .125rem; }
.timeline .advice { font-size: .9375rem; color: var(--muted); }
.timeline .advice b { color: var(--text); font-weight: 600; }

.chart { display: block; width: 100%; height: 4rem; border-bottom: 1px solid var(--border); }
.chart .delivered { fill: var(--good); }
.chart .pending { fill: var(--accent); }
.chart .cancelled { fill: var(--muted); }
table { width: 100%; margin-top: .75rem; border-collapse: collapse; font-size: .875rem; }
th, td { padding: .375rem .5rem .375rem 0; border-top: 1px solid var(--line); text-align: start; font-weight: 400; }
thead th { border-top: 0; font-weight: 600; }

.steps { margin: 0; padding: 0; list-style: none; display: grid; gap: 1rem 2rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 12.5rem), 1fr)); }
.steps li { display: flex; gap: .75rem; min-width: 0; }
.steps li div { flex: 1; min-width: 0; }
.steps .tick { width: 1.5rem; height: 1.5rem; flex: none; display: grid; place-items: center; border-radius: 50%; border: 1px solid var(--border); font-size: .8125rem; font-weight: 600; }
.steps .tick.done { background: var(--good-tint); color: var(--good); border-color: currentColor; }
.steps .tick .icon { width: 1rem; height: 1rem; }
.live-part:empty { display: none; }
.told:focus { outline: none; }
.outcome { display: flex; flex-direction: column; gap: .75rem; }
pre { margin: .375rem 0 0; padding: .75rem .875rem; max-height: 20rem; overflow: auto; background: var(--well); border: 1px solid var(--line); border-radius: .625rem; white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; font: .8125rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.snippet { margin-top: .75rem; }
.snippet + p { margin-top: .5rem; }
.snippet .head { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .375rem 1rem; }
html:not([data-scripts]) [data-copy] { display: none; }
#copied { position: fixed; left: 50%; bottom: 1rem; transform: translateX(-50%); max-width: calc(100vw - 2rem); padding: .5rem 1rem; border: 1px solid var(--border); border-radius: .625rem; background: var(--surface); color: var(--text); }
details .filters { margin-top: .75rem; }
.filters { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 12rem), 1fr)); gap: .75rem; align-items: start; }
.filters .field { min-width: 0; }
.filters .row { align-self: end; }
.filters select { text-overflow: ellipsis; }

@media (min-width: 34rem) { .panel { padding: 1.5rem; } }
@media (max-width: 33.99rem) { .console .row button { flex: 1 1 100%; } }
@media (min-width: 62rem) {
  .console { align-items: start; }
  .console.aside-first { grid-template-columns: minmax(0, 23rem) minmax(0, 1fr); }
  .console.halves { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .console.main-first { grid-template-columns: minmax(0, 1fr) minmax(0, 23rem); }
  .console .bar, .console .across { grid-column: 1 / -1; }
}
@media (forced-colors: active) { .timeline .bead, .pulse .dot { border: 2px solid CanvasText; } }

/* Frame of the pages: navigation, bar, content. Narrow first. */
.skip { position: absolute; inset-inline-start: 1rem; top: -6rem; z-index: 2; padding: .625rem 1rem; min-height: 2.75rem; border-radius: 0 0 .625rem .625rem; background: var(--brand); color: var(--on-brand); }
.skip:focus { top: 0; }
.shell { display: grid; grid-template-columns: minmax(0, 1fr); min-height: 100vh; min-height: 100dvh; grid-template-rows: auto 1fr auto; }
.side { display: flex; flex-direction: column; min-width: 0; background: var(--surface); border-bottom: 1px solid var(--line); }
a.brand { justify-content: flex-start; min-height: 2.75rem; margin: .5rem 1rem; color: var(--text); text-decoration: none; align-self: flex-start; }
a.brand .monogram { width: 1.875rem; height: 1.875rem; }
a.brand p { font-size: 1.0625rem; }
a.brand img { height: 2rem; }
.sections { display: flex; gap: .25rem; overflow-x: auto; padding: .25rem .75rem; scrollbar-width: thin; overflow-wrap: normal; }
.sections ul { display: flex; gap: .25rem; }
.sections p { display: none; }
.sections a { display: flex; align-items: center; gap: .5rem; min-height: 2.75rem; padding: .375rem .75rem; border-radius: .5rem; color: var(--text); text-decoration: none; white-space: nowrap; }
.sections a:hover { background: var(--well); }
.sections a[aria-current] { background: var(--tint); color: var(--accent); font-weight: 600; }
.sections a:focus-visible { outline-offset: -3px; }
.sections .count { color: var(--muted); font-weight: 400; font-variant-numeric: tabular-nums; }
.shell .page { min-width: 0; padding: 1rem; display: flex; flex-direction: column; gap: 1rem; }
.top { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .75rem; width: 100%; max-width: 72rem; }
.search { flex: 1 1 20rem; max-width: 34rem; display: flex; gap: .5rem; }
.search input { flex: 1 1 8rem; min-width: 0; text-overflow: ellipsis; }
.search kbd { display: none; }
::placeholder { color: var(--muted); opacity: 1; }
.search button { display: grid; place-items: center; min-width: 2.75rem; padding: .5rem; }
.order { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0 1rem; }
.order nav { display: flex; flex-wrap: wrap; gap: 0 1rem; font-size: .875rem; }
.order a { display: inline-flex; align-items: center; min-height: 2.75rem; }
.order a[aria-current] { color: var(--text); font-weight: 600; text-decoration: none; }
.modes { display: flex; border: 1px solid var(--border); border-radius: .625rem; overflow: hidden; margin-inline-start: auto; }
.modes a { display: grid; place-items: center; min-height: 2.75rem; min-width: 4rem; padding: .25rem .875rem; text-decoration: none; font-weight: 600; font-size: .9375rem; color: var(--text); background: var(--surface); }
.modes a[aria-current] { background: var(--brand); color: var(--on-brand); }
.modes a:focus-visible { outline-offset: -5px; }
.modes a[aria-current]:focus-visible { outline-color: var(--on-brand); }
.console:focus { outline: none; }
.crumbs ol { display: flex; flex-wrap: wrap; margin: 0; padding: 0; list-style: none; font-size: .875rem; }
.crumbs a { display: inline-flex; align-items: center; min-height: 2.75rem; }
.crumbs span { margin-inline: .5rem; color: var(--muted); }
.who { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem 1rem; padding: 1rem; background: var(--surface); border-top: 1px solid var(--line); min-width: 0; }
.pages a, .panel .head a { display: inline-flex; align-items: center; min-height: 2.75rem; }
.rows .what a { display: inline-block; padding-block: .625rem; margin-block: -.625rem; }
summary { min-height: 2.75rem; padding-block: .625rem; }
@media (min-width: 62rem) {
  .shell { grid-template-columns: 14rem minmax(0, 1fr); grid-template-rows: 1fr auto; }
  .side { grid-row: 1 / 3; border: 0; border-inline-end: 1px solid var(--line); padding-bottom: 6rem; }
  /* The shade at the lower edge says that more sections follow; at the end of the list, the first gradient covers it. */
  .side div { position: sticky; top: 0; max-height: calc(100vh - 8.25rem); overflow-y: auto; background: linear-gradient(transparent, var(--surface) 60%) bottom / 100% 4rem no-repeat local, linear-gradient(transparent, var(--line)) bottom / 100% 1rem no-repeat scroll; }
  a.brand { margin: 1rem 1.25rem .75rem; }
  .sections { flex-direction: column; gap: 0; padding: 0 .75rem 1rem; overflow: visible; }
  .sections ul { flex-direction: column; gap: 0; }
  .sections p { display: block; padding: 1rem .75rem .25rem; font-size: .8125rem; font-weight: 600; color: var(--muted); }
  .sections a { justify-content: space-between; white-space: normal; font-size: .9375rem; }
  .shell .page { grid-column: 2; grid-row: 1 / 3; padding: 1.25rem 2rem 3rem; gap: 1.25rem; }
  .shell .side, .who { grid-column: 1; }
  .who { grid-row: 2; position: sticky; bottom: 0; align-self: end; padding: 1rem 1.25rem; border: 0; font-size: .9375rem; margin-inline-end: 1px; }
  .console { max-width: 72rem; }
  [data-scripts] .search kbd { display: grid; place-items: center; padding: 0 .5rem; border: 1px solid var(--line); border-radius: .625rem; font-family: inherit; font-size: .75rem; white-space: nowrap; color: var(--muted); background: var(--surface); }
}
/* Choice of a verifier. */
.choices { display: flex; flex-wrap: wrap; gap: .5rem; margin-bottom: 1rem; }
.choices a { display: inline-flex; align-items: center; min-height: 2.75rem; padding: 0 .75rem; border: 1px solid var(--border); border-radius: .5rem; }
.choices a[aria-current] { font-weight: 600; border-color: currentColor; }
/* Samples of the sign-in buttons, and the rules for the buttons. */
.rules { list-style: disc; padding-inline-start: 1.25rem; }
.rules li + li { margin-top: .5rem; }
.samples { display: flex; flex-wrap: wrap; gap: 1rem; margin-bottom: 1rem; }
.sample { padding: 1rem; border-radius: .5rem; border: 1px solid var(--border); max-width: 100%; overflow-x: auto; }
@media (forced-colors: active) { .sections a[aria-current], .modes a[aria-current] { outline: 2px solid Highlight; outline-offset: -2px; } }

/* States of deliveries: amber while another attempt follows, red once given up. */
:root { --bad: #a3161f; --bad-tint: #fdeaea; }
@media (prefers-color-scheme: dark) { :root { --bad: #ff9d9d; --bad-tint: #2e1616; } }
.state.failing { display: inline-block; background: var(--warning-tint); color: var(--warning); white-space: normal; }
.state.dropped { background: var(--bad-tint); color: var(--bad); }
.chart .failing { fill: var(--warning); }
.chart .dropped { fill: var(--bad); }
.qr { display: block; width: min(18rem, 100%); height: auto; border-radius: .625rem; }

/* Lines of a refusal below each other. */
.notice.bad div { display: block; }

/* Statistics on the first page of operators, and the values that acts have changed. */
.periods { display: flex; gap: .25rem; }
.periods a { display: inline-flex; align-items: center; min-height: 2.75rem; padding: 0 .875rem; border: 1px solid var(--border); border-radius: .625rem; background: var(--surface); text-decoration: none; }
.periods a[aria-current] { background: var(--tint); border-color: currentColor; font-weight: 600; }
.numbers { display: grid; gap: 1.25rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 13rem), 1fr)); }
.number { gap: .5rem; }
.number svg { margin-top: auto; }
.number h2 { font-size: .9375rem; }
.number strong { display: block; font-size: 1.75rem; line-height: 1.25; font-variant-numeric: tabular-nums; }
.line-chart { display: block; width: 100%; height: 3rem; }
.line-chart polyline { fill: none; stroke: var(--accent); stroke-width: 2; stroke-linejoin: round; vector-effect: non-scaling-stroke; }
.line-chart .delivered { fill: var(--good); }
.line-chart .dropped { fill: var(--bad); }
.wide { max-width: 100%; overflow-x: auto; }
.wide th, .wide td { white-space: nowrap; padding-inline-end: 1rem; }
.wide td { text-align: end; font-variant-numeric: tabular-nums; }
.wide thead th + th { text-align: end; }
.changes th, .changes td { vertical-align: top; overflow-wrap: anywhere; }
.changes th { overflow-wrap: break-word; }
.rows .more { overflow-wrap: anywhere; }
.rows .more a { font-weight: 400; }

/* Pages with live data carry a mark. */
.mark { padding: .625rem 1rem; border-inline-start: .375rem solid var(--bad); border-radius: .375rem; background: var(--bad-tint); color: var(--bad); font-weight: 600; width: 100%; max-width: 72rem; }
/* The words of a badge stay together. */
.badge { white-space: nowrap; }
.badge.live { background: var(--bad-tint); color: var(--bad); }

/* Parts of a page that update themselves, deliveries within the steps of a payment, and sums whose words stay whole on a phone. */
.panel > div[data-live] { display: flex; flex-direction: column; gap: 1rem; }
.timeline .rows li { padding: .375rem 0; }
.sums th, .sums td:first-of-type { overflow-wrap: normal; }
`;

/** Returns the style sheet of the console: the rules of all pages, and those of the console. */
export const consoleStyle = (theme: PageTheme): Asset =>
  assetOf(`${stylesheet(theme)}\n${rules}`, 'text/css; charset=utf-8');
