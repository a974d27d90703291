import { html } from '@ostiary/core/console';
import type { Words } from '../en/index.ts';

export const tools: Words['tools'] = {
  title: 'Herramientas de prueba',
  missing: (scopes) =>
    html`Esta herramienta necesita una clave con el scope ${scopes}, y la suya no lo tiene. Pida una clave de prueba que lo tenga, e inicie sesión con ella.`,
  call: 'Lo mismo como llamada a la API',
  user: 'Usuario de prueba',
  refused: 'No se hizo. La API respondió:',
  passport: {
    title: 'Pasaporte',
    intro: 'Lo que un usuario le muestra y usted hace verificar. Dura 5 minutos.',
    state: 'Estado',
    valid: 'Válido',
    expired: 'Ya caducado',
    mint: 'Emitir un pasaporte',
    token: 'Token del pasaporte',
    once: (time) =>
      html`Se muestra solo esta vez, y caduca el ${time}. Envíelo como <code>token</code> a <code>POST /v1/partner/verify</code>.`,
    onceExpired: html`Se muestra solo esta vez. Envíelo como <code>token</code> a <code>POST /v1/partner/verify</code>, que responde <code>token_expired</code>.`,
  },
  payment: {
    title: 'Pago',
    intro: 'Una transferencia a un usuario de prueba. No se mueve dinero.',
    outcome: 'Resultado',
    outcomes: {
      completed: 'Completado (importe ,00)',
      failed: 'Fallido (importe ,01)',
      pending: 'Sigue en curso (importe ,02)',
    },
    amount: 'Importe, sin centavos',
    amountHint: 'El resultado añade los centavos: ellos deciden qué pasa con un pago de prueba.',
    amountWrong: 'Escriba solo cifras, como 125, y no cero si el resultado es «Completado».',
    currency: 'Moneda',
    reference: 'Referencia (opcional)',
    referenceHint: 'El nombre que usted da al pago. Pertenece para siempre a un solo pago.',
    pay: 'Hacer el pago',
    one: 'Pago de prueba',
    facts: 'Detalles',
    status: 'Estado',
    states: { pending: 'En curso', completed: 'Completado', failed: 'Fallido' },
    total: 'Importe',
    recipient: 'Destinatario',
    time: 'Iniciado el',
    failure: 'Motivo',
    id: 'Identificador de la transferencia',
    event: 'Evento',
    noEventYet: 'Un evento anuncia el final de un pago. Este sigue en curso.',
    noEvent: 'Su evento no está entre los más recientes. Búsquelo en la lista de eventos.',
    another: 'Hacer otro pago',
  },
  kyc: {
    title: 'Verificación de identidad',
    intro:
      'Cambie el estado de la verificación de identidad de un usuario de prueba. Sus claves de prueba lo ven en consultas y verificaciones, y sus endpoints de prueba reciben el evento kyc.updated. Después de 7 días vuelve a ser como al principio.',
    status: 'Nuevo estado',
    states: { approved: 'Aprobada', pending: 'En curso', rejected: 'No aprobada' },
    now: 'Ahora',
    tier: (tier) => html`nivel ${tier}`,
    changed: 'modificado por usted',
    change: 'Cambiar',
    reset: 'Restablecer todos los usuarios',
  },
  signature: {
    title: 'Comprobación de la firma',
    intro:
      'Envía a un endpoint dos eventos de prueba a la vez: uno firmado con su secreto, otro con una firma falsa. Un endpoint correcto acepta el primero con 2xx y rechaza el segundo con 4xx. Ninguno aparece en la lista, y ninguno se envía de nuevo.',
    endpoint: 'Endpoint',
    none: 'Todavía no hay ningún endpoint activado.',
    check: 'Comprobar',
    verdicts: {
      right: 'Este endpoint verifica las firmas: aceptó el evento auténtico y rechazó el falso.',
      takes_forged:
        'Este endpoint aceptó el evento falso. Cualquiera que conozca su dirección podría enviarle eventos: verifique la firma, y rechace con 400 lo que no coincida.',
      fails_at_forged:
        'Este endpoint aceptó el evento auténtico y no el falso, pero tampoco lo rechazó con 4xx. Responda 400 cuando una firma no coincida.',
      refuses_genuine:
        'Este endpoint no aceptó el evento bien firmado. Compare el secreto, y verifique sobre los bytes originales del cuerpo.',
      no_answer: 'Este endpoint no respondió al evento bien firmado, así que no se puede decir nada de él.',
    },
    genuine: 'Bien firmado',
    forged: 'Firma falsa',
    answer: (name) => `Respuesta a: ${name}`,
  },
};
