import { defineTypes, field, int32, ref, struct } from '../description/define.ts'
import { inVersion } from '../description/in-version.ts'
import { flowcontrolV1 } from './flowcontrol-v1.ts'

/** The types of flowcontrol/v1beta3, which are those of v1, except that zero shares mean an unset field. */
export const flowcontrolV1beta3 = defineTypes({
  ...inVersion(flowcontrolV1, { from: 'flowcontrol/v1', to: 'flowcontrol/v1beta3' }),
  LimitedPriorityLevelConfiguration: () =>
    struct(
      {
        nominalConcurrencyShares: field(int32(), {
          tag: 1,
          keepEmpty: true,
          doc: 'Share of the parallel requests. The server divides its total among the levels by their shares. Default: 30.',
        }),
        limitResponse: field(ref('flowcontrol/v1beta3.LimitResponse'), {
          tag: 2,
          changes: { 37: { listedAsRequired: true } },
          doc: 'Treatment of requests that cannot be served at once.',
        }),
        lendablePercent: field(int32(), {
          tag: 3,
          pointer: true,
          doc: 'Percentage of its requests that the level lends to others while it does not need them. Default: 0.',
        }),
        borrowingLimitPercent: field(int32(), {
          tag: 4,
          pointer: true,
          doc: 'Maximum that the level borrows from others, in percent of its own requests. Unset: no maximum.',
        }),
      },
      { doc: 'Bounds on the requests of a priority level.' },
    ),
})
