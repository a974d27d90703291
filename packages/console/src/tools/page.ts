import { type ConsoleAnswer, PartnerError } from '@ostiary/core/console';
import { type Html, html } from '@ostiary/core/pages';
import { answerFramed } from '../frame.ts';
import type { Visit } from '../visit.ts';
import { readToolsData } from './data.ts';
import { kycPanel } from './kyc.ts';
import { type Filled, type ToolName, type Used, unused } from './parts.ts';
import { passportPanel } from './passport.ts';
import { paymentPanel } from './payment.ts';
import { signaturePanel } from './signature.ts';

async function show(visit: Visit, name: ToolName | null = null, used: Used = unused): Promise<ConsoleAnswer> {
  const data = await readToolsData(visit);
  const of = (tool: ToolName): Used => (tool === name ? used : unused);
  const { problem } = used;
  const answer = answerFramed(visit, {
    title: visit.voice.words.tools.title,
    layout: 'halves',
    section: 'tools',
    isFirst: true,
    status: problem?.status ?? 200,
    body: html`<div class="column">${paymentPanel(visit, data, of('payment'))}${passportPanel(visit, data, of('passport'))}</div>
<div class="column">${signaturePanel(visit, data, of('signature'))}${kycPanel(visit, data, of('kyc'))}<section class="panel"><p><a href="${visit.urlOf('button')}">${visit.voice.words.button.title}</a></p></section></div>`,
  });
  return { ...answer, headers: { ...answer.headers, ...problem?.headers } };
}

/** Shows the page with all test tools. */
export const tools = (visit: Visit): Promise<ConsoleAnswer> => show(visit);

/**
 * Runs a test tool. Returns the response that the tool makes, such as a redirect. Otherwise, returns the page
 * with the tool's result, or with the reason why the API refused the call. Rethrows `not_found` and failures
 * of the service.
 */
export async function useTool(
  visit: Visit,
  name: ToolName,
  filled: Filled,
  work: () => Promise<ConsoleAnswer | { readonly outcome: Html }>,
): Promise<ConsoleAnswer> {
  try {
    const result = await work();
    return 'outcome' in result ? await show(visit, name, { filled, problem: null, ...result }) : result;
  } catch (error) {
    if (!(error instanceof PartnerError) || error.status >= 500 || error.code === 'not_found') throw error;
    return await show(visit, name, { filled, problem: error, outcome: null });
  }
}
