import { type FieldDefinition, field } from '../description/fields.ts'
import { inVersion } from '../description/in-version.ts'
import { defineTypes, type StructDefinition } from '../description/structs.ts'
import { int32 } from '../description/values.ts'
import { flowcontrolV1 } from './flowcontrol-v1.ts'

const types = inVersion(flowcontrolV1, { from: 'flowcontrol/v1', to: 'flowcontrol/v1beta2' })

/** The types of flowcontrol/v1beta2, which are those of v1 with `assuredConcurrencyShares`, and without patch strategies. */
export const flowcontrolV1beta2 = defineTypes({
  ...types,
  FlowSchemaStatus: () => withoutStrategy(types.FlowSchemaStatus()),
  LimitedPriorityLevelConfiguration: () => {
    const level = types.LimitedPriorityLevelConfiguration()
    const { nominalConcurrencyShares, limitResponse, lendablePercent, borrowingLimitPercent } = level.members
    const { node: _node, pointer: _pointer, ...shares } = nominalConcurrencyShares
    return {
      ...level,
      members: {
        assuredConcurrencyShares: field(int32({ min: 1, detail: 'must be positive' }), 1, { ...shares, keepEmpty: true }),
        limitResponse,
        lendablePercent: { ...lendablePercent, since: 26 },
        borrowingLimitPercent: { ...borrowingLimitPercent, since: 26 },
      },
    }
  },
  PriorityLevelConfigurationStatus: () => withoutStrategy(types.PriorityLevelConfigurationStatus()),
})

function withoutStrategy<D extends FieldDefinition>(status: StructDefinition<{ readonly conditions: D }, false>) {
  const { patchStrategy: _strategy, patchMergeKey: _key, ...conditions } = status.members.conditions
  return { ...status, members: { conditions } }
}
