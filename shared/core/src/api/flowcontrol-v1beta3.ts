import { field } from '../description/fields.ts'
import { inVersion } from '../description/in-version.ts'
import { defineTypes } from '../description/structs.ts'
import { flowcontrolV1 } from './flowcontrol-v1.ts'

const types = inVersion(flowcontrolV1, { from: 'flowcontrol/v1', to: 'flowcontrol/v1beta3' })

/** The types of flowcontrol/v1beta3, which are those of v1, except that zero shares mean an unset field. */
export const flowcontrolV1beta3 = defineTypes({
  ...types,
  LimitedPriorityLevelConfiguration: () => {
    const level = types.LimitedPriorityLevelConfiguration()
    const { node, pointer: _pointer, ...shares } = level.members.nominalConcurrencyShares
    const nominalConcurrencyShares = field(node, 1, { ...shares, keepEmpty: true })
    return { ...level, members: { ...level.members, nominalConcurrencyShares } }
  },
})
