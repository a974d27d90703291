import { randomUUID } from 'node:crypto';
import { fillText, type Html, html, nameOf } from '@ostiary/core/pages';
import type { SandboxUser } from '../api.ts';
import { csrfField } from '../frame.ts';
import { choiceField, stateBadge } from '../parts.ts';
import type { Visit } from '../visit.ts';
import { type ToolsData, userOptions } from './data.ts';
import { missingScopes, refusal, toolPanel, type Used } from './parts.ts';

const badges = { approved: 'delivered', pending: 'pending', rejected: 'dropped' } as const;

/** Checks whether this partner has changed a sandbox user's identity check. */
export const isChanged = ({ kycStatus, kycTier, original }: SandboxUser): boolean =>
  kycStatus !== original.kycStatus || kycTier !== original.kycTier;

/** Shows the test tool that changes identity checks of sandbox users, and resets them. */
export function kycPanel(visit: Visit, { scopes, users }: ToolsData, used: Used): Html {
  const { urlOf, voice } = visit;
  const { kyc: words, user } = voice.words.tools;
  const kid = used.filled.get('kid') ?? users[0]?.kid ?? '';
  const status = used.filled.get('status') ?? 'rejected';
  const row = (one: SandboxUser): Html =>
    html`<li><p class="what">${nameOf(one.name)} <span>${nameOf(one.kid)} · ${fillText(voice.language, words.tier, { tier: one.kycTier })}${isChanged(one) ? ` · ${words.changed}` : ''}</span></p>${stateBadge(badges[one.kycStatus], words.states[one.kycStatus])}</li>`;
  const reset = users.some(isChanged)
    ? html`<form method="post" action="${urlOf('kycTool')}">${csrfField(visit)}<button class="compact" name="action" value="reset">${words.reset}</button></form>`
    : null;
  return toolPanel(voice, {
    name: 'kyc',
    lacks: missingScopes(['identity:verify'], scopes),
    used,
    refused: refusal(used, voice.words),
    form: html`<h3>${words.now}</h3><ul class="rows">${users.map(row)}</ul>${reset}
<form class="form" method="post" action="${urlOf('kycTool')}">${csrfField(visit)}<input type="hidden" name="once" value="${randomUUID()}">
${choiceField({ label: user, id: 'kyc-user', name: 'kid', options: userOptions(users), chosen: kid })}
${choiceField({ label: words.status, id: 'kyc-status', name: 'status', options: Object.entries(words.states), chosen: status })}
<div class="row"><button class="primary">${words.change}</button></div></form>`,
    call: null,
  });
}
