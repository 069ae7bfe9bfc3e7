import { gatesByDefault, type IsGateOn } from '../../feature-gates.ts'
import type { Names } from '../../names.ts'
import { defaultsOfType } from '../kinds/kind-of-type.ts'
import type { Draft } from './draft.ts'

/**
 * Fills what the writer of an object left to the server. The object is changed in place, so it has to be the caller's own,
 * as it comes from the decoder. Added fields stand behind the given ones; decoding once more puts them in order.
 */
export function applyDefaults(type: string, object: Draft, names: Names, isGateOn: IsGateOn = gatesByDefault): void {
  defaultsOfType(type)?.(object, names, isGateOn)
}
