import { createAdmission } from '@orch/admission'
import type { StorageService } from '@orch/core'
import type { Surroundings } from './surroundings.ts'

/** Admission over what storage holds. */
export async function openAdmission({ storage }: { readonly storage: StorageService }, surroundings: Surroundings) {
  const { catalogue, clock, lifecycle, log, random } = surroundings
  const admission = createAdmission({ storage, catalogue, clock, log, random })
  await lifecycle.run({ name: 'admission', stop: () => admission.close() })
  return admission
}
