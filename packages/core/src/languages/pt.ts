import type { Texts } from './texts.ts';

/** Portuguese. */
export const pt: Texts = {
  signedInAs: 'Sessão iniciada como',
  consent: {
    title: 'Permitir o acesso de {client}?',
    ask: 'pede acesso à sua conta {service}',
    switchAccount: 'Usar outra conta',
    scopes: 'Se permitir, {client} poderá:',
    onlyNew: 'Pede mais do que você permitiu antes. O que foi acrescentado tem a marca “novo”.',
    newBadge: 'Novo',
    noPassword: '{client} nunca vê a sua senha.',
    withdraw: 'Você pode retirar este acesso a qualquer momento em “Aplicativos conectados”.',
    sentBack: 'Nos dois casos, você volta para {host}',
    approve: 'Permitir',
    deny: 'Recusar',
    terms: 'Termos do aplicativo',
    privacy: 'Privacidade do aplicativo',
  },
  apps: {
    title: 'Aplicativos conectados',
    intro: 'Estes aplicativos veem partes da sua conta {service} porque você permitiu.',
    since: 'Permitido em {date}',
    changed: 'Última alteração em {date}',
    remove: 'Retirar o acesso',
    removeOf: 'de {client}',
    removed: 'O aplicativo não tem mais acesso à sua conta.',
    emptyTitle: 'Nenhum aplicativo conectado',
    empty:
      'Quando você permitir que um aplicativo veja a sua conta {service}, ele aparece aqui e você pode retirá-lo.',
  },
  cancel: {
    title: 'Voltar sem entrar?',
    text: 'Você não entra, e {client} não recebe nenhum acesso.',
    back: 'Voltar para {client}',
  },
  logout: {
    title: 'Sair?',
    ask: 'Você vai sair de {service}.',
    askedBy: '{client} pede para encerrar a sua sessão em {service}.',
    leave: 'Sair',
    stay: 'Continuar conectado',
    left: {
      title: 'Você saiu',
      advice: 'Você não está mais conectado a {service}. Pode fechar esta página.',
    },
    stayed: { title: 'Você continua conectado', advice: 'Nada mudou em {service}. Pode fechar esta página.' },
  },
  errors: {
    unknown_client: {
      title: 'Não conhecemos este aplicativo',
      advice:
        'O aplicativo que trouxe você aqui não está registrado conosco, ou foi desativado. Volte ao aplicativo e avise os autores se isso se repetir.',
    },
    redirect_mismatch: {
      title: 'Paramos para proteger você',
      advice:
        'O aplicativo pediu que enviássemos você a um endereço que não registrou conosco, por isso não seguimos. Nada foi compartilhado. Avise os autores do aplicativo, por favor.',
    },
    invalid_request: {
      title: 'O aplicativo cometeu um erro',
      advice:
        'O aplicativo nos enviou um pedido que não entendemos. Volte ao aplicativo e tente de novo; se não ajudar, avise os autores.',
    },
    expired: {
      title: 'Esta página não é mais válida',
      advice:
        'Ela ficou aberta por tempo demais, ou você já respondeu. Volte ao aplicativo e comece de novo.',
    },
    no_cookie: {
      title: 'O seu navegador não enviou o nosso cookie',
      advice:
        'Uma entrada só continua no navegador em que começou, e precisa de um cookie. Permita os cookies deste site nas configurações do seu navegador, depois volte ao aplicativo e comece de novo.',
    },
    csrf: {
      title: 'Não pudemos verificar a sua resposta',
      advice:
        'Por segurança, não mudamos nada. Confira se o seu navegador aceita cookies, volte, recarregue a página e tente de novo.',
    },
    not_found: {
      title: 'Não há página aqui',
      advice: 'Confira o endereço, ou volte ao aplicativo e comece de novo.',
    },
    rate_limited: {
      title: 'Tentativas demais',
      advice: 'Espere um minuto e tente de novo.',
    },
    unavailable: {
      title: 'Voltamos logo',
      advice: 'O serviço não consegue responder agora. Tente de novo em alguns minutos.',
    },
    internal: {
      title: 'Algo deu errado do nosso lado',
      advice: 'Tente de novo. Se não ajudar, fale conosco e informe a referência abaixo.',
    },
    method: {
      title: 'Esta página não pode ser aberta assim',
      advice: 'Volte ao aplicativo e comece de novo.',
    },
  },
  technical: 'Para quem desenvolve o aplicativo',
  reference: 'Referência:',
};
