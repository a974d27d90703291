import { html } from '@ostiary/core/console';
import type { Words } from '../en/index.ts';
import { deliveries } from './deliveries.ts';
import { endpoints, recovery, secrets } from './endpoints.ts';
import { events, trigger } from './events.ts';
import { failures } from './failures.ts';
import { firstRun } from './first-run.ts';
import { operators } from './operators.ts';
import { requests } from './requests.ts';
import { snippets } from './snippets.ts';
import { tools } from './tools.ts';

/** The words of the sandbox console in Portuguese. */
export const portuguese: Words = {
  title: 'Console de testes',
  testMode: 'Modo de teste',
  signOut: 'Sair',
  back: 'Eventos e endpoints',
  cancel: 'Cancelar',
  show: 'Mostrar',
  filter: 'Filtrar',
  nothingFits: 'Nada corresponde a este filtro.',
  live: 'Ao vivo',
  lost: 'Sem conexão, tentando de novo',
  reload: 'Recarregue a página para ver as novidades',
  notices: {
    signed_out: 'Você saiu.',
    ended: 'Você foi desconectado: a sessão terminou, ou a chave não abre mais o console.',
    sent: 'O evento está a caminho.',
    redelivered: 'O evento está de novo a caminho.',
    no_match: 'Nada foi enviado: nenhum endpoint ativado aceita este tipo de evento.',
    disabled: 'Nada foi enviado: o endpoint está desativado. Ative-o primeiro.',
    gone: 'Nada foi alterado: o endpoint não existe mais.',
    endpoint_added: 'O endpoint está registrado.',
    endpoint_enabled: 'O endpoint está ativado.',
    endpoint_disabled: 'O endpoint está desativado, e o que estava em espera para ele foi cancelado.',
    endpoint_removed: 'O endpoint está removido, e o que estava em espera para ele foi cancelado.',
    endpoint_saved: 'O endpoint está salvo.',
    secret_changed: 'O novo segredo assina a partir da próxima tentativa.',
    kyc_changed: 'A verificação de identidade foi alterada, e os seus endpoints de teste são avisados.',
    kyc_same: 'Nada foi alterado: a verificação de identidade já estava assim.',
    kyc_reset: 'Todos os usuários de teste estão de novo como no início.',
    paid: 'O pagamento foi iniciado: veja o que acontece com ele.',
  },
  signIn: {
    intro: (prefix) =>
      html`Entre com uma chave de API de teste: ela começa com ${prefix} e tem o scope <code>webhooks</code>.`,
    key: 'Chave de API de teste',
    submit: 'Entrar',
    refused: (prefix) =>
      html`Esta chave não abre o console. Só as chaves de teste abrem: elas começam com ${prefix}, têm o scope <code>webhooks</code>, estão em vigor, não exigem requisições assinadas e vêm de um endereço que permitem.`,
    tooMany: 'Houve tentativas demais a partir do seu endereço. Espere um minuto.',
    wrongKey: 'Esta chave não foi aceita.',
    promise: 'A chave não é guardada no seu navegador. A sessão termina depois de 8 horas.',
  },
  endpoints,
  trigger,
  events,
  deliveries,
  failures,
  requests,
  secrets,
  recovery,
  tools,
  firstRun,
  snippets,
  operators,
};
