import { html } from '@ostiary/core/console';
import type { Words } from '../en/index.ts';

export const tools: Words['tools'] = {
  title: 'Ferramentas de teste',
  missing: (scopes) =>
    html`Esta ferramenta precisa de uma chave com o scope ${scopes}, e a sua não o tem. Peça uma chave de teste que o tenha, e entre com ela.`,
  call: 'O mesmo como chamada à API',
  user: 'Usuário de teste',
  refused: 'Não foi feito. A API respondeu:',
  passport: {
    title: 'Passaporte',
    intro: 'O que um usuário mostra a você e você manda verificar. Ele dura 5 minutos.',
    state: 'Estado',
    valid: 'Válido',
    expired: 'Já expirado',
    mint: 'Emitir um passaporte',
    token: 'Token do passaporte',
    once: (time) =>
      html`Ele é mostrado só desta vez, e expira em ${time}. Envie-o como <code>token</code> a <code>POST /v1/partner/verify</code>.`,
    onceExpired: html`Ele é mostrado só desta vez. Envie-o como <code>token</code> a <code>POST /v1/partner/verify</code>, que responde <code>token_expired</code>.`,
  },
  payment: {
    title: 'Pagamento',
    intro: 'Uma transferência a um usuário de teste. Nenhum dinheiro é movido.',
    outcome: 'Resultado',
    outcomes: {
      completed: 'Concluído (valor ,00)',
      failed: 'Falhou (valor ,01)',
      pending: 'Continua pendente (valor ,02)',
    },
    amount: 'Valor, sem os centavos',
    amountHint: 'O resultado acrescenta os centavos: eles decidem o que acontece com um pagamento de teste.',
    amountWrong: 'Escreva só algarismos, como 125, e não zero se o resultado for “Concluído”.',
    currency: 'Moeda',
    reference: 'Referência (opcional)',
    referenceHint: 'O nome que você dá ao pagamento. Ele pertence para sempre a um só pagamento.',
    pay: 'Fazer o pagamento',
    one: 'Pagamento de teste',
    facts: 'Detalhes',
    status: 'Estado',
    states: { pending: 'Pendente', completed: 'Concluído', failed: 'Falhou' },
    total: 'Valor',
    recipient: 'Destinatário',
    time: 'Iniciado em',
    failure: 'Motivo',
    id: 'Identificador da transferência',
    event: 'Evento',
    noEventYet: 'Um evento anuncia o fim de um pagamento. Este está pendente.',
    noEvent: 'O evento dele não está entre os mais recentes. Procure-o na lista de eventos.',
    another: 'Fazer outro pagamento',
  },
  kyc: {
    title: 'Verificação de identidade',
    intro:
      'Altere o estado da verificação de identidade de um usuário de teste. As suas chaves de teste o veem em consultas e verificações, e os seus endpoints de teste recebem o evento kyc.updated. Depois de 7 dias, tudo volta a ser como no início.',
    status: 'Novo estado',
    states: { approved: 'Aprovada', pending: 'Em andamento', rejected: 'Não aprovada' },
    now: 'Agora',
    tier: (tier) => html`nível ${tier}`,
    changed: 'alterado por você',
    change: 'Alterar',
    reset: 'Restaurar todos os usuários',
  },
  signature: {
    title: 'Teste da assinatura',
    intro:
      'Envia a um endpoint dois eventos de teste ao mesmo tempo: um assinado com o segredo dele, outro com uma assinatura falsa. Um endpoint correto aceita o primeiro com 2xx e recusa o segundo com 4xx. Nenhum aparece na lista, e nenhum é enviado de novo.',
    endpoint: 'Endpoint',
    none: 'Ainda não há nenhum endpoint ativado.',
    check: 'Testar',
    verdicts: {
      right: 'Este endpoint verifica assinaturas: ele aceitou o evento autêntico e recusou o falso.',
      takes_forged:
        'Este endpoint aceitou o evento falso. Quem conhecer o endereço dele poderia enviar-lhe eventos: verifique a assinatura, e recuse com 400 o que não corresponde.',
      fails_at_forged:
        'Este endpoint aceitou o evento autêntico e não o falso, mas também não o recusou com 4xx. Responda 400 quando uma assinatura não corresponde.',
      refuses_genuine:
        'Este endpoint não aceitou o evento assinado corretamente. Compare o segredo, e verifique sobre os bytes originais do corpo.',
      no_answer:
        'Este endpoint não respondeu ao evento assinado corretamente, por isso não se pode dizer nada dele.',
    },
    genuine: 'Assinado corretamente',
    forged: 'Assinatura falsa',
    answer: (name) => `Resposta a: ${name}`,
  },
};
