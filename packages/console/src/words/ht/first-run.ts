import type { Words } from '../en/index.ts';

export const firstRun: Words['firstRun'] = {
  title: 'Premye etap yo',
  intro: 'Chak etap make lè l fèt, isit la oswa ak API a.',
  done: 'Fèt:',
  open: 'Pou fè:',
  dismiss: 'Kache jiskaske m konekte ankò',
  endpoint: { title: 'Anrejistre yon endpoint', go: 'Bay adrès li' },
  event: { title: 'Voye yon evènman', go: 'Deklanche yon evènman tès' },
  signature: { title: 'Verifye siyati li', go: 'Tcheke yon endpoint' },
  payment: { title: 'Fè yon peman', go: 'Fè yon peman tès' },
};
