import type { KindDefinition } from '../../kind/define-resource.ts'
import * as kinds from './all-kinds.ts'

/** Every kind, of all levels, in the order in which discovery lists them within a group version. */
export const allKinds: readonly KindDefinition[] = Object.values<KindDefinition>(kinds).sort((one, other) =>
  one.plural < other.plural ? -1 : 1,
)
