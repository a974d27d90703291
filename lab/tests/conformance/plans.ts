import * as codes from './modules/codes.ts';
import { discoveryEndpointVerification } from './modules/discovery.ts';
import { type Module, notForStaticClients } from './modules/module.ts';
import * as parameters from './modules/parameters.ts';
import * as requestObjects from './modules/request-objects.ts';
import * as responses from './modules/responses.ts';
import * as scopes from './modules/scopes.ts';
import * as sessions from './modules/sessions.ts';
import * as userinfo from './modules/userinfo.ts';

/** Modules in the order in which the suite runs them. */
export interface Plan {
  readonly name: string;
  readonly title: string;
  readonly modules: readonly Module[];
}

/** Sign-in with the authorization code flow: the profile that every relying party starts from. */
export const basicOp: Plan = {
  name: 'oidcc-basic-certification-test-plan',
  title: 'Basic OP',
  modules: [
    responses.server,
    responses.responseTypeMissing,
    notForStaticClients('oidcc-idtoken-signature'),
    notForStaticClients('oidcc-idtoken-unsigned'),
    userinfo.userinfoGet,
    userinfo.userinfoPostHeader,
    userinfo.userinfoPostBody,
    responses.withoutNonce,
    scopes.scopeProfile,
    scopes.scopeEmail,
    scopes.scopeAddress,
    scopes.scopePhone,
    scopes.scopeAll,
    scopes.otherScopeOrder,
    parameters.displayPage,
    parameters.displayPopup,
    sessions.promptLogin,
    sessions.promptNoneNotLoggedIn,
    sessions.promptNoneLoggedIn,
    sessions.maxAge1,
    sessions.maxAge10000,
    parameters.unknownParameter,
    sessions.idTokenHint,
    parameters.loginHint,
    parameters.uiLocales,
    parameters.claimsLocales,
    parameters.acrValues,
    codes.codeReuse,
    codes.codeReuseAfter30Seconds,
    responses.registeredRedirectUri,
    responses.postRequest,
    responses.clientSecretPost,
    notForStaticClients('oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported'),
    requestObjects.unsignedRequestObject,
    userinfo.claimsEssential,
    requestObjects.requestObjectWithRedirectUri,
    codes.refreshToken,
    parameters.validPkce,
  ],
};

/** Discovery. */
export const configOp: Plan = {
  name: 'oidcc-config-certification-test-plan',
  title: 'Config OP',
  modules: [discoveryEndpointVerification],
};
