import type { HostAct } from '@ostiary/console';

/** Makes the words of one kind of audit log entry: English, French, Haitian Creole, Spanish, Portuguese. */
const act = (en: string, fr: string, ht: string, es: string, pt: string): HostAct => ({
  words: { en, fr, ht, es, pt },
});

/** Marks a kind of audit log entry as an act that changes nothing. */
const unchanging = (described: HostAct): HostAct => ({ ...described, isChange: false });

/** Kinds of this server's own audit log entries, with their words for the operators' pages. */
export const staffActs: { readonly [action: string]: HostAct } = {
  'staff.sign_in': unchanging(
    act('signed in as', 's’est connecté en tant que', 'konekte kòm', 'inició sesión como', 'entrou como'),
  ),
  'staff.sign_out': unchanging(
    act('signed out as', 's’est déconnecté en tant que', 'dekonekte kòm', 'cerró sesión como', 'saiu como'),
  ),
  'staff.passkey_refused': unchanging(
    act(
      'was refused with a copied passkey of',
      'a été refusé avec une clé d’accès copiée de',
      'jwenn refi ak yon kle aksè kopye',
      'fue rechazado con una llave de acceso copiada de',
      'foi recusado com uma chave de acesso copiada de',
    ),
  ),
  'staff.join': act(
    'set up a sign-in for',
    'a configuré une connexion pour',
    'mete yon koneksyon sou pye pou',
    'configuró un inicio de sesión para',
    'configurou um acesso para',
  ),
  'staff.passkey_add': act(
    'added a passkey for',
    'a ajouté une clé d’accès pour',
    'ajoute yon kle aksè pou',
    'añadió una llave de acceso para',
    'adicionou uma chave de acesso para',
  ),
  'staff.invite': act('invited', 'a invité', 'envite', 'invitó a', 'convidou'),
  'staff.role': act(
    'changed the role of',
    'a changé le rôle de',
    'chanje wòl',
    'cambió el rol de',
    'mudou a função de',
  ),
  'staff.end_sessions': act(
    'ended the sessions of',
    'a mis fin aux sessions de',
    'fini sesyon',
    'terminó las sesiones de',
    'encerrou as sessões de',
  ),
  'staff.disable': act('disabled', 'a désactivé', 'dezaktive', 'desactivó a', 'desativou'),
  'staff.reset': act(
    'reset the sign-in of',
    'a réinitialisé la connexion de',
    'rekòmanse koneksyon',
    'restableció el inicio de sesión de',
    'redefiniu o acesso de',
  ),
  'user.create': act(
    'created the user',
    'a créé l’utilisateur',
    'kreye itilizatè',
    'creó el usuario',
    'criou o usuário',
  ),
  'user.set_password': act(
    'set a password of the user',
    'a défini un mot de passe de l’utilisateur',
    'mete yon modpas pou itilizatè',
    'estableció una contraseña del usuario',
    'definiu uma senha do usuário',
  ),
  'user.set_email': act(
    'changed the e-mail address of the user',
    'a changé l’adresse e-mail de l’utilisateur',
    'chanje adrès imel itilizatè',
    'cambió el correo electrónico del usuario',
    'mudou o endereço de e-mail do usuário',
  ),
  'user.passport': act(
    'issued a passport of the user',
    'a émis un passeport de l’utilisateur',
    'bay yon paspò itilizatè',
    'emitió un pasaporte del usuario',
    'emitiu um passaporte do usuário',
  ),
  'user.block': act(
    'blocked the user',
    'a bloqué l’utilisateur',
    'bloke itilizatè',
    'bloqueó al usuario',
    'bloqueou o usuário',
  ),
  'user.unblock': act(
    'unblocked the user',
    'a débloqué l’utilisateur',
    'debloke itilizatè',
    'desbloqueó al usuario',
    'desbloqueou o usuário',
  ),
  'user.end_sessions': act(
    'ended the sessions of the user',
    'a mis fin aux sessions de l’utilisateur',
    'fini sesyon itilizatè',
    'terminó las sesiones del usuario',
    'encerrou as sessões do usuário',
  ),
  'user.kyc': act(
    'changed the identity check of the user',
    'a changé la vérification d’identité de l’utilisateur',
    'chanje verifikasyon idantite itilizatè',
    'cambió la verificación de identidad del usuario',
    'mudou a verificação de identidade do usuário',
  ),
  'partner.fund': act(
    'added to the funds of the partner',
    'a ajouté aux fonds du partenaire',
    'ajoute sou lajan patnè',
    'añadió a los fondos del socio',
    'acrescentou aos fundos do parceiro',
  ),
};
