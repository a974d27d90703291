import { html } from '@ostiary/web-kit';
import { type PartnerConfig, redirectUris } from '../config.ts';
import { scopeChoices } from './home-page.ts';
import { page } from './layout.ts';
import { english } from './words.ts';

/** Makes a page that signs in without the server. Everything happens in `public/spa.js`. */
export function spaPage({ url, provider, clients }: PartnerConfig): string {
  const choices = scopeChoices.map(
    ({ name, about }) =>
      html`<label class="choice"><input type="checkbox" name="scope" value="${name}" checked><span><code>${name}</code><small>${english[about]}</small></span></label>`,
  );
  return page(
    english,
    'Browser only',
    html`<div class="columns top">
<div>
<h1>The same, without a server.</h1>
<p class="lead">This page is a public client: it has no secret, proves itself with PKCE, and talks to ${provider.name} across origins with plain <code>fetch</code>.</p>
<p class="small">The token lives in a variable of this page and is gone when you reload it. Read the whole script: <a href="/spa.js">spa.js</a>.</p>
</div>
<section class="card" id="spa" data-auth-url="${provider.authUrl}" data-base-url="${provider.baseUrl}" data-client-id="${clients.public.clientId}" data-redirect-uri="${redirectUris(url).spa}">
<p class="notice" id="message" role="status" hidden></p>
<form id="sign-in"><h2>Sign in</h2><fieldset><legend>What the page may ask for</legend>${choices}</fieldset>
<button class="button primary" type="submit">Sign in with ${provider.name}</button></form>
<div id="signed-in" hidden><h2>Received</h2><dl id="fields"></dl>
<button class="button quiet" type="button" id="read">Read the identity again</button>
<button class="button quiet" type="button" id="revoke">Revoke the token</button></div>
<noscript><p>This version of the shop needs JavaScript. <a href="/">The other one does not.</a></p></noscript>
</section>
</div>`,
    html`<script src="/spa.js" defer></script>\n`,
  );
}
