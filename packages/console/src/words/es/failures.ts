import type { Words } from '../en/index.ts';

/** By the `error` of an attempt; `status` has several. */
export const failures: Words['failures'] = {
  target_refused: {
    what: 'La dirección no está permitida, así que no se envió nada.',
    advice:
      'El nombre de host tiene que resolverse, y solo en direcciones públicas. Revise sus registros DNS; durante el desarrollo, use un túnel con una dirección https pública.',
  },
  timeout: {
    what: 'Sin respuesta en 10 segundos.',
    advice:
      'Responda 2xx en cuanto el evento esté guardado, y trabaje después. Si no llega nada a su servidor, revise el cortafuegos.',
  },
  connection_refused: {
    what: 'Nada escucha en esta dirección.',
    advice: 'Inicie el servidor y compare su puerto con el de la URL.',
  },
  connection_failed: {
    what: 'No hay camino hasta esta dirección.',
    advice: 'Compruebe que los registros DNS del nombre de host llevan a un servidor en línea.',
  },
  connection_reset: {
    what: 'La conexión se cerró antes de que llegara una respuesta.',
    advice:
      'Busque un fallo en el registro de su servidor, o un proxy delante de él que abandona demasiado pronto.',
  },
  certificate: {
    what: 'El certificado TLS no es de confianza.',
    advice:
      'Presente un certificado vigente de una autoridad pública, para este nombre de host y con sus certificados intermedios.',
  },
  tls: {
    what: 'No se pudo establecer una conexión segura.',
    advice: 'Compruebe que este puerto habla TLS 1.2 o posterior: http simple no funciona aquí.',
  },
  protocol: {
    what: 'La respuesta no era HTTP/1.1 correcto.',
    advice: 'Compruebe que el puerto es de un servidor web, y que sus encabezados de respuesta son pequeños.',
  },
  redirect: {
    what: 'Respondió con una redirección, que no se sigue.',
    advice: 'Registre la dirección final, a menudo la que tiene o no tiene una barra al final.',
  },
  status_denied: {
    what: 'Rechazó la petición.',
    advice:
      'Casi siempre la firma no coincidía: verifíquela sobre los bytes originales del cuerpo, con el secreto de este endpoint. No exija un inicio de sesión en esta ruta.',
  },
  status_missing: {
    what: 'No acepta un POST en esta ruta.',
    advice: 'Compare la ruta de la URL con la de su aplicación.',
  },
  status_busy: {
    what: 'Indicó que había demasiadas peticiones.',
    advice: 'Excluya esta ruta de su límite de peticiones. El próximo intento quizá pase sin más.',
  },
  status_server: {
    what: 'Su servidor falló al tratar el evento.',
    advice: 'Vea la respuesta de abajo y el registro de su servidor a esta hora.',
  },
  status_other: {
    what: 'No respondió con un estado 2xx.',
    advice:
      'Responda un estado de 200 a 299 cuando el evento esté guardado. La respuesta de abajo quizá diga más.',
  },
  aborted: {
    what: 'El intento se interrumpió de nuestro lado.',
    advice: 'No tiene que hacer nada: su servidor quizá vio el evento, y se envía de nuevo.',
  },
  internal: {
    what: 'Algo salió mal de nuestro lado.',
    advice: 'No tiene que hacer nada: habrá otro intento. Avísenos si ocurre a menudo.',
  },
  unknown: { what: 'El intento falló.', advice: 'La respuesta de abajo quizá diga más.' },
};
