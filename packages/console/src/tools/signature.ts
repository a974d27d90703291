import type { SignatureCheck } from '@ostiary/core/console';
import { fillText, type Html, html, icons, nameOf, visible } from '@ostiary/core/pages';
import { failureKind } from '../delivery.ts';
import { csrfField } from '../frame.ts';
import { choiceField, foreignText } from '../parts.ts';
import type { Visit } from '../visit.ts';
import type { ToolsData } from './data.ts';
import { refusal, toolPanel, type Used } from './parts.ts';

/**
 * Shows the test tool that checks whether endpoints verify signatures. The tool does not check the key's
 * scopes: the console requires the tool's scope at sign-in.
 */
export function signaturePanel(visit: Visit, { endpoints }: ToolsData, used: Used): Html {
  const { urlOf, voice } = visit;
  const { signature: words } = voice.words.tools;
  const options = endpoints.map(({ id, url }) => [id, visible(url)] as const);
  const chosen = used.filled.get('endpoint') ?? visit.request.query.get('endpoint') ?? options[0]?.[0] ?? '';
  const form =
    options.length === 0
      ? html`<p>${words.none} <a href="${urlOf('endpoints')}">${voice.words.endpoints.add}</a></p>`
      : html`<form class="form" method="post" action="${urlOf('signatureTool')}">${csrfField(visit)}
${choiceField({ label: words.endpoint, id: 'signature-endpoint', name: 'endpoint', options, chosen })}
<div class="row"><button class="primary">${words.check}</button></div></form>`;
  return toolPanel(voice, {
    name: 'signature',
    lacks: [],
    used,
    refused: refusal(used, voice.words),
    form,
    call: null,
  });
}

/** Shows how an endpoint responded to one event of a signature check: the genuine or the forged event. */
function answerOf(name: string, answer: SignatureCheck['genuine'], { voice }: Visit): Html {
  const { deliveries, failures, tools } = voice.words;
  const { httpStatus, error, response, durationMs } = answer;
  const status = httpStatus === null ? deliveries.noStatus : `HTTP ${httpStatus}`;
  const why =
    httpStatus === null
      ? html`<p>${failures[failureKind({ error, httpStatus }, voice.words)].what} <code class="muted">${nameOf(error ?? '')}</code></p>`
      : null;
  return html`<div><h3>${name}</h3><p class="small">${status} · ${durationMs} ms</p>${why}${response === null || response === '' ? null : foreignText(response, fillText(voice.language, tools.signature.answer, { name }))}</div>`;
}

/** Explains an endpoint's responses to the genuine and the forged event. */
export function signatureOutcome({ verdict, genuine, forged }: SignatureCheck, visit: Visit): Html {
  const { signature: words } = visit.voice.words.tools;
  const isRight = verdict === 'right';
  return html`<div class="notice ${isRight ? '' : 'bad'}">${isRight ? icons.check : icons.warning}<p>${words.verdicts[verdict]}</p></div>
${answerOf(words.genuine, genuine, visit)}${answerOf(words.forged, forged, visit)}`;
}
