import type { PaymentRail } from '../ports/payments.ts';

/**
 * Payment rail of test mode, which moves no money. A transfer whose amount ends in .01 fails, one whose
 * amount ends in .02 stays pending, any other completes.
 */
export const sandboxRail: PaymentRail = {
  async execute({ amount }) {
    switch (amount % 100n) {
      case 1n:
        return { status: 'failed', code: 'sandbox_failure', message: 'Test amounts that end in .01 fail.' };
      case 2n:
        return { status: 'pending' };
      default:
        return { status: 'completed' };
    }
  },
};
