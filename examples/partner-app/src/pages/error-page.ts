import { html } from '@ostiary/web-kit';
import type { PartnerConfig } from '../config.ts';
import { page } from './layout.ts';

const explanations: Readonly<Record<string, readonly [title: string, text: string]>> = {
  access_denied: [
    'No coffee without a name',
    'You chose not to share anything. That is fine: nothing was sent to this shop.',
  ],
  wrong_state: [
    'Please start again',
    'This sign-in was not begun in this browser, or it was finished already.',
  ],
  issuer_mismatch: [
    'Please start again',
    'The answer came from somebody else than the provider that was asked.',
  ],
  invalid_grant: ['Please start again', 'The code was used before, or it took too long.'],
  invalid_scope: ['The shop asked for too much', 'It is not allowed one of the scopes.'],
  invalid_client: ['The shop is not known', 'Its client id or secret is wrong, or it was disabled.'],
  temporarily_unavailable: ['Please try again', 'The provider cannot answer right now.'],
  connection_error: ['Please try again', 'The provider could not be reached.'],
  timeout: ['Please try again', 'The provider did not answer in time.'],
  wrong_origin: ['That did not work', 'This form was sent by another site.'],
  not_found: ['Nothing brewing here', 'There is no such page.'],
  server_error: ['Something boiled over', 'The shop made a mistake.'],
};

/** Says what went wrong: first in words, then what the provider answered. */
export function errorPage(config: PartnerConfig, code: string, description: string): string {
  const [title, text] = explanations[Object.hasOwn(explanations, code) ? code : ''] ?? [
    'The sign-in failed',
    `${config.provider.name} answered with an error.`,
  ];
  return page(
    title,
    html`<div class="card narrow"><h1 class="modest">${title}</h1>
<p>${text}</p>
<dl><div><dt>Error</dt><dd><code>${code}</code></dd></div>${
      description === '' ? null : html`<div><dt>Description</dt><dd>${description}</dd></div>`
    }</dl>
<a class="button primary" href="/">Back to the shop</a></div>`,
  );
}
