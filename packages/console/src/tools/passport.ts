import { type Html, html } from '@ostiary/core/pages';
import { csrfField } from '../frame.ts';
import { choiceField } from '../parts.ts';
import type { Visit } from '../visit.ts';
import { type ToolsData, userOptions } from './data.ts';
import { missingScopes, refusal, toolCall, toolPanel, type Used } from './parts.ts';

/** Shows the test tool that creates passports of sandbox users. */
export function passportPanel(visit: Visit, { scopes, users }: ToolsData, used: Used): Html {
  const { urlOf, voice } = visit;
  const { passport: words, user } = voice.words.tools;
  const kid = used.filled.get('kid') ?? users[0]?.kid ?? '';
  const state = used.filled.get('state') ?? 'valid';
  const states = [
    ['valid', words.valid],
    ['expired', words.expired],
  ] as const;
  return toolPanel(voice, {
    name: 'passport',
    lacks: missingScopes(['identity:verify'], scopes),
    used,
    refused: refusal(used, voice.words),
    form: html`<form class="form" method="post" action="${urlOf('passportTool')}">${csrfField(visit)}
${choiceField({ label: user, id: 'passport-user', name: 'kid', options: userOptions(users), chosen: kid })}
${choiceField({ label: words.state, id: 'passport-state', name: 'state', options: states, chosen: state })}
<div class="row"><button class="primary">${words.mint}</button></div></form>`,
    call: toolCall(visit, 'passport', {
      operation: 'createSandboxPassport',
      id: null,
      body: { kid, expired: state === 'expired' },
    }),
  });
}
