import type { Registration } from '../plugin.ts'

/** PersistentVolumeLabel asked a cloud provider for the zone of a volume. This server has no cloud provider, and the plugin was removed long ago. */
export const persistentVolumeLabel: Registration = {
  isDefault: false,
  until: 30,
  refusal: 'it labels volumes by what a cloud says of them, and this server knows no cloud; volumes get such labels from their drivers',
  create: () => ({ admissionRules: [] }),
}
