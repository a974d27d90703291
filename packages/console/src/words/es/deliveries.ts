import { html } from '@ostiary/core/console';
import type { Words } from '../en/index.ts';

export const deliveries: Words['deliveries'] = {
  title: 'Entregas',
  emptyTitle: 'Ninguna entrega',
  emptyEvent: 'Ningún endpoint activado aceptaba este tipo de evento cuando se publicó.',
  emptyEndpoint: 'Todavía no se ha enviado nada a este endpoint.',
  again: 'Entregar de nuevo aquí',
  states: {
    pending: 'En espera',
    delivered: 'Entregado',
    dropped: 'Abandonado',
    cancelled: 'Cancelado',
    none: 'Sin endpoint',
  },
  more: 'Entregas anteriores',
  all: 'Todas las entregas',
  andOlder: 'y otras anteriores',
  attempt: (number, of) => html`Intento ${number} de ${of}`,
  attemptBeyond: (number) => html`Intento ${number}`,
  succeeded: 'Su endpoint aceptó el evento.',
  noStatus: 'Sin respuesta',
  whatToDo: 'Qué hacer:',
  answer: (bytes) => html`Lo que respondió (${bytes} bytes)`,
  answerCut: 'Lo que respondió (los primeros 16 KiB)',
  answerTo: (number) => `Respuesta al intento ${number}`,
  noAnswer: 'Respondió con un cuerpo vacío.',
  sent: 'Lo que se envió',
  ofAttempt: (number) => `en el intento ${number}`,
  requestOf: (number) => `Petición del intento ${number}`,
  curlOf: (number) => `Intento ${number} como comando curl`,
  requestUnknown: 'Ya no se sabe lo que se envió: el endpoint fue eliminado.',
  changed: (time) =>
    html`El endpoint se modificó el ${time}. La URL y la firma son las de su configuración actual, y pueden ser distintas de las que se enviaron.`,
  neverSent: 'No se estableció ninguna conexión, así que no se envió nada.',
  oldSignature:
    'La firma es del momento del intento: 5 minutos después, los receptores la rechazan por antigua.',
  onlyTo: (endpoint) => html`Solo las entregas a ${endpoint}.`,
  next: (time) => html`Próximo intento: ${time}`,
  underWay: 'El primer intento está a punto de empezar.',
  dropped:
    'Todos los intentos fallaron, y no habrá otro automático. Entregue de nuevo cuando la causa esté resuelta.',
  cancelled: 'Cancelado porque el endpoint fue desactivado o eliminado.',
  history: {
    title: 'Últimas 24 horas',
    table: 'Hora por hora',
    hour: 'Hora (UTC)',
    cut: 'Solo se cuentan las 10 000 entregas más recientes.',
  },
};
