import { setTimeout as pause } from 'node:timers/promises';
import { UnsealError } from '../../keys/sealing.ts';
import type { Core } from '../../options/context.ts';
import { digest } from '../../secrets/tokens.ts';
import { answerSeconds } from '../lifetimes.ts';

/** Decision with which a user ends an interaction (a sign-in with consent). */
export type Decision = 'approve' | 'deny' | 'cancel';

/** Response that a browser got when its interaction ended. */
export interface GivenAnswer {
  /** Decision of the user; `null` if the user was not asked. */
  readonly decision: Decision | null;
  /** Id of the user who was signed in when the interaction ended; `null` if no user was signed in. */
  readonly sub: string | null;
  /**
   * URL to which the browser was redirected. It may contain the authorization code, so it is stored
   * encrypted.
   */
  readonly location: string;
}

/**
 * Pause between two attempts to read a response that a concurrent request is about to store, in milliseconds.
 */
const pauseMs = 100;
const maxReads = 10;

const contextOf = (id: string): string => `interaction ${digest(id).toString('base64url')} answer`;

/**
 * Stores the response to an interaction for a minute. If that fails, only logs the error, because the browser
 * gets the response anyway.
 */
export async function saveAnswer(core: Core, id: string, answer: GivenAnswer): Promise<void> {
  const { sealer, clock, storage, options } = core;
  const payload = { sealed: sealer.seal(JSON.stringify(answer), contextOf(id)) };
  try {
    await storage.interactionAnswers.save(digest(id), payload, clock.now() + answerSeconds * 1000);
  } catch (error) {
    options.logger.warn(
      { err: error },
      'the response to an authorization request was not stored for a second click',
    );
  }
}

/**
 * Finds the response to an interaction that has ended; `null` if there is none, or it cannot be decrypted. If
 * no response is stored yet, waits for up to one second, because a concurrent request may be about to store
 * it.
 */
export async function findAnswer(core: Core, id: string): Promise<GivenAnswer | null> {
  const { sealer, clock, storage } = core;
  for (let read = 1; read <= maxReads; read += 1) {
    const payload = await storage.interactionAnswers.find(digest(id), clock.now());
    if (payload !== null) {
      try {
        return JSON.parse(sealer.open(String(payload.sealed), contextOf(id)));
      } catch (error) {
        if (!(error instanceof UnsealError)) throw error;
        return null;
      }
    }
    if (read < maxReads) await pause(pauseMs);
  }
  return null;
}
