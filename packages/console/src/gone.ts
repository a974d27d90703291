import { type ConsoleAnswer, PartnerError } from '@ostiary/core/console';
import { html } from '@ostiary/core/pages';
import { answerFramed, problemRow } from './frame.ts';
import type { Visit } from './visit.ts';

type Action = (visit: Visit, form: ReadonlyMap<string, string>, session: string) => Promise<ConsoleAnswer>;

/**
 * Wraps the handler of an endpoint's form. If the endpoint does not exist, the response is a page that says
 * so. The endpoint may have been removed while the form was open, or belong to another partner: the page does
 * not reveal which.
 */
export const orGone =
  (handle: Action): Action =>
  async (visit, form, session) => {
    try {
      return await handle(visit, form, session);
    } catch (error) {
      if (!(error instanceof PartnerError) || error.code !== 'not_found') throw error;
      const { words } = visit.voice;
      return answerFramed(visit, {
        title: words.endpoints.goneTitle,
        layout: 'one',
        status: 404,
        body: html`${problemRow(words.notices.gone)}`,
      });
    }
  };
