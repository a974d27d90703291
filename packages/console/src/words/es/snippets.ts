import type { Words } from '../en/index.ts';

export const snippets: Words['snippets'] = {
  copy: 'Copiar',
  copied: 'Copiado.',
  notCopied: 'Su navegador no deja que la página copie. El texto está seleccionado: cópielo con el teclado.',
  curl: (title) => `${title}: curl`,
  sdk: (title) => `${title}: @ostiary/client-sdk`,
  key: 'La clave de API se lee de la variable de entorno OSTIARY_API_KEY.',
  unknownId: 'El registro no guarda lo que estaba en la ruta: póngalo en la variable ID.',
  title: 'Desde su propio código',
  trigger: 'Generar este evento',
  redeliver: 'Entregar de nuevo este evento',
  repeat: 'Repetir esta petición',
  repeatHint: 'Complete lo que se quitó del cuerpo. Los parámetros de la dirección no se guardan.',
  cut: 'El cuerpo se cortó, así que la petición no se puede repetir desde aquí.',
};
