import type { Administration } from '../admin/administration.ts';
import { requireRight } from '../admin/rights.ts';
import { OAuthError } from '../errors.ts';
import { pageRoute } from '../http/console-pages.ts';
import type { FormPurpose, Forms } from '../http/csrf.ts';
import { readUpload, type Upload } from '../http/parameters.ts';
import type { Route } from '../http/route.ts';
import { secretsOnce } from '../http/secrets-once.ts';
import type { Core } from '../options/context.ts';
import type { OperatorBackend, OperatorPage, Operators, OperatorVisit } from '../ports/operators.ts';
import type { ConsoleHandler, ConsoleRequest } from '../ports/partner-console.ts';
import { urlBelow } from '../text/urls.ts';
import { admit } from './admission.ts';

/** Path of the operators' pages below `authUrl`. */
const root = '/operators';

/**
 * HTTP methods that every path of the operators' pages handles, so that only operators learn which methods a
 * page has. `HEAD` is handled as `GET`.
 */
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

const purposeOf = (operator: string): FormPurpose => ['operators', operator];

/** Routes for all unknown paths below `/operators`, so that only operators learn which paths exist. */
const nothing: readonly OperatorPage<Administration>[] = [
  { path: '/', summary: 'Nothing is here.' },
  { path: '{/*rest}', summary: 'Nothing is here.' },
];

function deskOf(core: Core): OperatorBackend {
  const { options, clock } = core;
  const once = secretsOnce(core);
  return {
    theme: options.theme,
    prefix: options.prefix,
    events: options.events,
    maxAttempts: options.webhooks.retryDelaysSeconds.length + 1,
    hasPortal: options.console?.portal !== undefined,
    allowsPrivateTargets: options.webhooks.allowPrivateTargets,
    now: () => clock.now(),
    keepOnce: (operator, text) => once.keep(`operator ${operator}`, text),
    takeOnce: (operator, ticket) => once.take(`operator ${operator}`, ticket),
    url: (path) => urlBelow(options.authUrl, `${root}${path}`),
  };
}

/**
 * Creates the routes of the operators' pages. Each request is first passed to the host application to
 * authenticate.
 */
export function operatorRoutes(
  core: Core,
  operators: Operators<Administration>,
  admin: Administration,
  forms: Forms,
): Route[] {
  /**
   * Wraps the handler of a page so that it runs only for an authenticated operator. Other visitors are
   * redirected to sign in, or refused.
   */
  const guarded =
    (
      { isConfirmed = false }: OperatorPage<Administration>,
      answer: (visit: OperatorVisit<Administration>) => ReturnType<ConsoleHandler>,
    ): ConsoleHandler =>
    async (request) => {
      const admitted = await admit(core, operators, request.raw);
      if ('redirectTo' in admitted) return { status: 303, headers: { Location: admitted.redirectTo } };
      const { name, role, may, confirmAt, signOut } = admitted.operator;
      return answer({
        ...{ ...request, operator: name, may, signOut, confirmAt: isConfirmed ? confirmAt : null },
        proof: forms.issue(purposeOf(name)),
        admin: admin.as(name, { may, ...(role !== null && { role }) }),
      });
    };

  /**
   * Reads a form that an operator posted. @throws OAuthError, shown as a page, if the form came from another
   * site or was not made for this operator
   */
  async function formOf({ raw }: ConsoleRequest, operator: string): Promise<Upload> {
    const purpose = purposeOf(operator);
    forms.requireOwnOrigin(raw, purpose[0]);
    const upload = await readUpload(raw);
    forms.check(upload.fields.get('csrf'), purpose);
    return upload;
  }

  const routeOf = (page: OperatorPage<Administration>): Route => {
    const { path, summary, right, isHidden = false, GET, POST } = page;
    const requirePage = ({ may }: OperatorVisit<Administration>): void => {
      if (right !== undefined && isHidden) requireRight(may, right);
    };
    const allowed = [...(GET ? ['GET', 'HEAD'] : []), ...(POST ? ['POST'] : [])].join(', ');
    const refused = guarded(page, async (visit) => {
      requirePage(visit);
      if (allowed === '') throw new OAuthError('not_found');
      const headers = { Allow: allowed };
      throw new OAuthError('invalid_request', 'This method is not supported here.', { status: 405, headers });
    });
    const answered: { readonly [method: string]: ConsoleHandler | undefined } = {
      GET:
        GET &&
        guarded(page, async (visit) => {
          requirePage(visit);
          return GET(visit);
        }),
      POST:
        POST &&
        guarded(page, async (visit) => {
          if (right !== undefined) requireRight(visit.may, right);
          const { fields, files } = await formOf(visit, visit.operator);
          if (visit.confirmAt !== null) return { status: 303, headers: { Location: visit.confirmAt } };
          return POST(visit, fields, files);
        }),
    };
    const handlers = methods.map((method) => [method, answered[method] ?? refused] as const);
    return pageRoute(core.options.logger, {
      path: `${root}${path}`,
      summary,
      handlers: Object.fromEntries(handlers),
    });
  };

  return [...operators.pages.pages(deskOf(core)), ...nothing].map(routeOf);
}
