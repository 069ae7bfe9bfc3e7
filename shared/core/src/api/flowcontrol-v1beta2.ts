import { defineTypes, field, int32, list, ref, struct } from '../description/define.ts'
import { inVersion } from '../description/in-version.ts'
import { flowcontrolV1 } from './flowcontrol-v1.ts'

/** The types of flowcontrol/v1beta2, which are those of v1 with `assuredConcurrencyShares`. */
export const flowcontrolV1beta2 = defineTypes({
  ...inVersion(flowcontrolV1, { from: 'flowcontrol/v1', to: 'flowcontrol/v1beta2' }),
  FlowSchemaStatus: () =>
    struct(
      {
        conditions: field(list(ref('flowcontrol/v1beta2.FlowSchemaCondition')), {
          tag: 1,
          listType: 'map',
          listMapKeys: ['type'],
          doc: 'State of the schema by aspect. Dangling tells that its priority level does not exist.',
        }),
      },
      { doc: 'Observed state of a schema.' },
    ),
  LimitedPriorityLevelConfiguration: () =>
    struct(
      {
        assuredConcurrencyShares: field(int32({ min: 1, detail: 'must be positive' }), {
          tag: 1,
          keepEmpty: true,
          doc: 'Share of the parallel requests. The server divides its total among the levels by their shares. Default: 30.',
        }),
        limitResponse: field(ref('flowcontrol/v1beta2.LimitResponse'), {
          tag: 2,
          changes: { 37: { listedAsRequired: true } },
          doc: 'Treatment of requests that cannot be served at once.',
        }),
        lendablePercent: field(int32({ min: 0, max: 100 }), {
          tag: 3,
          pointer: true,
          since: 26,
          doc: 'Percentage of its requests that the level lends to others while it does not need them. Default: 0.',
        }),
        borrowingLimitPercent: field(int32({ min: 0, detail: 'if specified, must be a non-negative integer' }), {
          tag: 4,
          pointer: true,
          since: 26,
          doc: 'Maximum that the level borrows from others, in percent of its own requests. Unset: no maximum.',
        }),
      },
      { doc: 'Bounds on the requests of a priority level.' },
    ),
  PriorityLevelConfigurationStatus: () =>
    struct(
      {
        conditions: field(list(ref('flowcontrol/v1beta2.PriorityLevelConfigurationCondition')), {
          tag: 1,
          listType: 'map',
          listMapKeys: ['type'],
          doc: 'State of the level by aspect.',
        }),
      },
      { doc: 'Observed state of a priority level.' },
    ),
})
