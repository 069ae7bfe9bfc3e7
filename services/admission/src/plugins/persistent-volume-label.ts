import type { Registration } from '../plugin.ts'

/** PersistentVolumeLabel asked a cloud for the zone of a volume. There is no cloud here, and it was given up long ago. */
export const persistentVolumeLabel: Registration = {
  isDefault: false,
  until: 30,
  refusal: 'it labels volumes by what a cloud says of them, and this server knows no cloud; volumes get such labels from their drivers',
  create: () => ({ name: 'PersistentVolumeLabel', admissionRules: [], close: () => {} }),
}
