/** `pending` becomes one of the others, which are final. */
export type DeliveryStatus = 'pending' | 'delivered' | 'dropped' | 'cancelled';
