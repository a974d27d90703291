import { html } from '@ostiary/core/console';
import type { Words } from '../en/index.ts';

export const deliveries: Words['deliveries'] = {
  title: 'Entregas',
  emptyTitle: 'Nenhuma entrega',
  emptyEvent: 'Nenhum endpoint ativado aceitava este tipo de evento quando foi publicado.',
  emptyEndpoint: 'Nada foi enviado a este endpoint ainda.',
  again: 'Entregar de novo aqui',
  states: {
    pending: 'Em espera',
    delivered: 'Entregue',
    dropped: 'Abandonado',
    cancelled: 'Cancelado',
    none: 'Sem endpoint',
  },
  more: 'Entregas mais antigas',
  all: 'Todas as entregas',
  andOlder: 'e outras mais antigas',
  attempt: (number, of) => html`Tentativa ${number} de ${of}`,
  attemptBeyond: (number) => html`Tentativa ${number}`,
  succeeded: 'O seu endpoint aceitou o evento.',
  noStatus: 'Sem resposta',
  whatToDo: 'O que fazer:',
  answer: (bytes) => html`O que ele respondeu (${bytes} bytes)`,
  answerCut: 'O que ele respondeu (os primeiros 16 KiB)',
  answerTo: (number) => `Resposta à tentativa ${number}`,
  noAnswer: 'Ele respondeu com um corpo vazio.',
  sent: 'O que foi enviado',
  ofAttempt: (number) => `na tentativa ${number}`,
  requestOf: (number) => `Requisição da tentativa ${number}`,
  curlOf: (number) => `Tentativa ${number} como comando curl`,
  requestUnknown: 'Não se sabe mais o que foi enviado: o endpoint foi removido.',
  changed: (time) =>
    html`O endpoint foi alterado em ${time}. A URL e a assinatura são as das configurações atuais, e podem ser diferentes das que foram enviadas.`,
  neverSent: 'Nenhuma conexão foi estabelecida, por isso nada foi enviado.',
  oldSignature:
    'A assinatura é do momento da tentativa: 5 minutos depois, quem recebe a recusa por ser antiga.',
  onlyTo: (endpoint) => html`Somente as entregas a ${endpoint}.`,
  next: (time) => html`Próxima tentativa: ${time}`,
  underWay: 'A primeira tentativa está prestes a começar.',
  dropped:
    'Todas as tentativas falharam, e não haverá outra automática. Entregue de novo quando a causa estiver resolvida.',
  cancelled: 'Cancelado porque o endpoint foi desativado ou removido.',
  history: {
    title: 'Últimas 24 horas',
    table: 'Hora a hora',
    hour: 'Hora (UTC)',
    cut: 'Só são contadas as 10 000 entregas mais recentes.',
  },
};
