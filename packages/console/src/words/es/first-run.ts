import type { Words } from '../en/index.ts';

export const firstRun: Words['firstRun'] = {
  title: 'Primeros pasos',
  intro: 'Cada uno se marca cuando ha ocurrido, aquí o por la API.',
  done: 'Hecho:',
  open: 'Pendiente:',
  dismiss: 'Ocultar hasta que inicie sesión de nuevo',
  endpoint: { title: 'Registrar un endpoint', go: 'Indicar su dirección' },
  event: { title: 'Enviar un evento', go: 'Generar un evento de prueba' },
  signature: { title: 'Verificar su firma', go: 'Comprobar un endpoint' },
  payment: { title: 'Hacer un pago', go: 'Hacer un pago de prueba' },
};
