import type { Words } from '../en/index.ts';

export const firstRun: Words['firstRun'] = {
  title: 'Primeiros passos',
  intro: 'Cada um é marcado quando acontece, aqui ou pela API.',
  done: 'Feito:',
  open: 'A fazer:',
  dismiss: 'Ocultar até eu entrar de novo',
  endpoint: { title: 'Registrar um endpoint', go: 'Informar o endereço' },
  event: { title: 'Enviar um evento', go: 'Gerar um evento de teste' },
  signature: { title: 'Verificar a assinatura', go: 'Testar um endpoint' },
  payment: { title: 'Fazer um pagamento', go: 'Fazer um pagamento de teste' },
};
