import { createCatalogue } from '@orch/core/catalogue'
import { StatusError } from '@orch/core/meta'
import { systemChance } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { InProcessExchange } from '../exchange/in-process.ts'
import { createDraws } from '../request/draws.ts'
import { createNegotiator } from '../request/negotiate.ts'
import { Pace } from '../request/pace.ts'
import { GatewayRequest } from '../request/request.ts'
import { readDeleteOptions, toDeleteOptions } from './delete-options.ts'

const catalogue = createCatalogue('orch', { isGateOn: () => true })
const parts = { level: 25, catalogue, names: catalogue.names, metaVersion: 'meta.orch.io/v1' }

/** The refusal of options. */
function refusal(options: Record<string, unknown>) {
  try {
    return toDeleteOptions(options, parts)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return { code: error.status.code, message: error.status.message }
  }
}

test.each<[string, unknown, string]>([
  ['gracePeriodSeconds', '5', 'a number'],
  ['gracePeriodSeconds', true, 'a number'],
  ['gracePeriodSeconds', 5n, 'a number'],
  ['gracePeriodSeconds', 1.5, 'a whole number'],
  ['gracePeriodSeconds', 2 ** 53, 'a whole number'],
  ['propagationPolicy', 5, 'a string'],
  ['propagationPolicy', ['Orphan'], 'a string'],
  ['orphanDependents', 'true', 'a boolean'],
  ['orphanDependents', 1, 'a boolean'],
  ['dryRun', 'All', 'an array of strings'],
  ['dryRun', { length: 0 }, 'an array of strings'],
  ['dryRun', ['All', 5], 'an array of strings'],
])('DEL-12, QP-18, QP-19: options whose %s is %s are refused', (field, value, expected) => {
  expect(refusal({ [field]: value })).toEqual({
    code: 400,
    message: `DeleteOptions in version "v1" cannot be handled as a DeleteOptions: ${field}: expected ${expected}`,
  })
})

test.each(['uid', 'resourceVersion'])('DEL-10: preconditions whose %s is no text are refused', (field) => {
  expect(refusal({ preconditions: { [field]: 5 } })).toEqual({
    code: 400,
    message: `DeleteOptions in version "v1" cannot be handled as a DeleteOptions: preconditions.${field}: expected a string`,
  })
})

const nothing = {
  ignoresReadErrors: false,
  isDryRun: false,
  gracePeriodSeconds: undefined,
  propagation: undefined,
  orphanDependents: undefined,
  preconditions: {},
}
const head = { kind: 'DeleteOptions', apiVersion: 'meta.orch.io/v1' }

test.each<[string, Record<string, unknown>, object]>([
  ['nothing', {}, {}],
  ['a grace', { gracePeriodSeconds: 0 }, { gracePeriodSeconds: 0 }],
  ['a negative grace', { gracePeriodSeconds: -1 }, { gracePeriodSeconds: -1 }],
  ['Background', { propagationPolicy: 'Background' }, { propagation: 'Background' }],
  ['Orphan', { propagationPolicy: 'Orphan' }, { propagation: 'Orphan' }],
  ['Foreground', { propagationPolicy: 'Foreground' }, { propagation: 'Foreground' }],
  ['orphans', { orphanDependents: true }, { propagation: 'Orphan', orphanDependents: true }],
  ['no orphans', { orphanDependents: false }, { propagation: 'Background', orphanDependents: false }],
  ['a dry run', { dryRun: ['All'] }, { isDryRun: true }],
  ['no dry run', { dryRun: [] }, {}],
  ['a uid', { preconditions: { uid: 'u' } }, { preconditions: { uid: 'u' } }],
  ['a version', { preconditions: { resourceVersion: '5' } }, { preconditions: { resourceVersion: '5' } }],
  ['preconditions of null', { preconditions: { uid: null, resourceVersion: null } }, {}],
])('DEL-12: options with %s are accepted', (_what, options, meant) => {
  expect(toDeleteOptions(options, parts)).toEqual({ ...nothing, ...meant, object: { ...options, ...head } })
})

test.each(['gracePeriodSeconds', 'propagationPolicy', 'orphanDependents', 'dryRun', 'preconditions'])(
  'DEL-12: the option %s is ignored if it is null',
  (field) => {
    expect(toDeleteOptions({ [field]: null }, parts)).toMatchObject(nothing)
  },
)

test('DEL-12: a policy beside orphanDependents is refused for any values, and all errors are listed at once', () => {
  const invalid = 'DeleteOptions.meta.orch.io "" is invalid: '
  const both = 'propagationPolicy: Invalid value: "Background": orphanDependents and deletionPropagation cannot be both set'
  expect(refusal({ propagationPolicy: 'Background', orphanDependents: false })).toEqual({ code: 422, message: `${invalid}${both}` })
  const message = (refusal({ propagationPolicy: 'Nope', orphanDependents: true, dryRun: ['All', 'Some'] }) as { message: string }).message
  expect(message).toContain('dryRun: Unsupported value: []string{"All", "Some"}')
  expect(message).toContain('propagationPolicy: Unsupported value: "Nope"')
  expect(message).toContain('propagationPolicy: Invalid value: "Nope": orphanDependents')
})

const ignore = 'ignoreStoreReadErrorWithClusterBreakingPotential'

test('an object that cannot be read is deleted by that option alone', () => {
  expect(toDeleteOptions({ [ignore]: true }, parts)).toMatchObject({ ...nothing, ignoresReadErrors: true })
  expect(toDeleteOptions({ [ignore]: false, dryRun: ['All'] }, parts)).toMatchObject({ ignoresReadErrors: false, isDryRun: true })
  expect(toDeleteOptions({ [ignore]: true, dryRun: ['All'] }, parts)).toMatchObject({ ignoresReadErrors: true, isDryRun: true })
  const asked = { [ignore]: true, orphanDependents: true, gracePeriodSeconds: 0, propagationPolicy: null }
  const message = (refusal(asked) as { message: string }).message
  const why = (name: string) => `${ignore}: Invalid value: true: cannot be set together with .${name}`
  expect(message).toBe(`DeleteOptions.meta.orch.io "" is invalid: [${why('orphanDependents')}, ${why('gracePeriodSeconds')}]`)
})

test('DEL-12: without a body the query has the options', async () => {
  const clock = createFakeClock()
  const read = (query: string) => {
    const exchange = new InProcessExchange(
      { method: 'DELETE', path: `/api/v1/namespaces/n/pods/a${query}`, headers: {} },
      { kind: 'internal', name: 'u', groups: [] },
    )
    const negotiator = createNegotiator(catalogue.names)
    const request = new GatewayRequest(exchange, 0, {
      requestTimeoutMs: 60_000,
      pathPrefix: '',
      negotiator,
      draws: createDraws(systemChance),
    })
    return readDeleteOptions(request, { ...parts, pace: new Pace(), clock, wheel: clock } as unknown as Parameters<
      typeof readDeleteOptions
    >[1])
  }
  expect(await read('')).toMatchObject(nothing)
  expect(await read(`?${ignore}=true`)).toMatchObject({ ...nothing, ignoresReadErrors: true })
  expect(await read('?orphanDependents=true&gracePeriodSeconds=3')).toMatchObject({ propagation: 'Orphan', gracePeriodSeconds: 3 })
})
