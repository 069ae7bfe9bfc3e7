import { describe, expect, test } from 'vitest'
import { findScheduleProblem } from '../../cron/schedule.ts'
import { namesOf } from '../../names.ts'
import { applyDefaults } from '../testing/readers-testing.ts'
import { type Body, problemsOf, withChange } from '../testing/rules-testing.ts'

const template: Body = { metadata: { labels: { app: 'a' } }, spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }
const selector: Body = { matchLabels: { app: 'a' } }
const job: Body = { metadata: { name: 'j', namespace: 'n', uid: 'u' }, spec: { manualSelector: true, selector, template } }
const spec = (fields: Body): Body => ({ ...job, spec: { ...(job['spec'] as Body), ...fields } })

const generated: Body = {
  ...job,
  spec: {
    selector: { matchLabels: { 'controller-uid': 'u' } },
    template: { ...template, metadata: { labels: { 'controller-uid': 'u', 'job-name': 'j' } } },
  },
}

type Row = readonly [name: string, body: Body, ...expected: string[]]

/** Names the cells of a row; the last ones are the expected errors. */
const toCase = ([name, body, ...expected]: Row) => ({ name, body, expected })

/** Names the cells of a row about a change. */
const toChange = ([name, live, body, ...expected]: readonly [string, Body, Body, ...string[]]) => ({ name, live, body, expected })

const failing = (rule: Body): Body => spec({ podFailurePolicy: { rules: [rule] } })
const rule = 'spec.podFailurePolicy.rules[0]'

const ofJobs: readonly Row[] = [
  ['a sound one', job],
  ['one whose selector was made for it', generated],
  [
    'a selector that was made for another',
    withChange(generated, 'metadata/uid', 'v'),
    `spec.template.metadata.labels[controller-uid]: Invalid value: map[string]string{"controller-uid":"u", "job-name":"j"}: must be 'v'`,
    'spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string{"controller-uid":"u"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: `selector` not auto-generated',
  ],
  [
    'no selector',
    spec({ selector: undefined }),
    'spec.selector: Required value',
    'spec.template.metadata.labels: Invalid value: map[string]string{"app":"a"}: `selector` does not match template `labels`',
  ],
  [
    'Pods that never end',
    withChange(job, 'spec/template/spec/restartPolicy', 'Always'),
    'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
  ],
  ['fewer than none', spec({ completions: -1 }), 'spec.completions: Invalid value: -1: must be greater than or equal to 0'],
  ['no such mode', spec({ completionMode: 'X' }), 'spec.completionMode: Unsupported value: "X": supported values: "NonIndexed", "Indexed"'],
  [
    'indexes need a number',
    spec({ completionMode: 'Indexed', parallelism: 1 }),
    'spec.completions: Required value: when completion mode is Indexed',
  ],
  [
    'too many at once',
    spec({ completionMode: 'Indexed', completions: 1, parallelism: 100_001 }),
    'spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed',
  ],
  ['a rule of failures', failing({ action: 'Ignore', onExitCodes: { operator: 'In', values: [1, 2] } })],
  [
    'a rule of nothing',
    failing({ action: 'Ignore' }),
    `${rule}: Invalid value: specifying one of OnExitCodes and OnPodConditions is required`,
  ],
  [
    'a rule of two kinds',
    failing({ action: 'Ignore', onExitCodes: { operator: 'In', values: [1] }, onPodConditions: [{ type: 'A' }] }),
    `${rule}: Invalid value: specifying both OnExitCodes and OnPodConditions is not supported`,
  ],
  [
    'words that are missing',
    failing({ action: '', onExitCodes: { operator: '', values: [1], containerName: '' } }),
    `${rule}.action: Required value: valid values: ["Count" "FailJob" "Ignore"]`,
    `${rule}.onExitCodes.operator: Required value: valid values: ["In" "NotIn"]`,
    `${rule}.onExitCodes.containerName: Invalid value: "": must be one of the container or initContainer names in the pod template`,
  ],
  [
    'words that are not known',
    failing({ action: 'X', onPodConditions: [{ type: 'A', status: 'X' }] }),
    `${rule}.action: Unsupported value: "X": supported values: "Count", "FailJob", "Ignore"`,
    `${rule}.onPodConditions[0].status: Unsupported value: "X": supported values: "False", "True", "Unknown"`,
  ],
  [
    'nothing twice',
    failing({ action: 'Count', onExitCodes: { operator: 'In', values: [0, 0] } }),
    `${rule}.onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator`,
    `${rule}.onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator`,
    `${rule}.onExitCodes.values[1]: Duplicate value: 0`,
  ],
  [
    'codes in order',
    failing({ action: 'Ignore', onExitCodes: { operator: 'NotIn', values: [2, 1] } }),
    `${rule}.onExitCodes.values: Invalid value: []int32{2, 1}: must be ordered`,
  ],
  [
    'success is no failure',
    failing({ action: 'Count', onExitCodes: { operator: 'In', values: [0] } }),
    `${rule}.onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator`,
  ],
]

describe('a new Job', () => {
  test.each(ofJobs.map(toCase))('has the expected errors: $name', ({ body, expected }) =>
    expect(problemsOf('batch/v1.Job', body)).toEqual(expected),
  )
})

const waiting: Body = spec({ suspend: true })
const tracked = withChange(job, 'metadata/annotations', { 'batch.orch.io/job-tracking': '' })
const nodeAffinity: Body = {
  requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }] },
}
const podAffinity: Body = {
  requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'a', labelSelector: { matchLabels: { a: 'b' } } }],
}
const placed = (affinity: Body): Body => withChange(waiting, 'spec/template/spec/affinity', affinity)

const changes: readonly (readonly [string, Body, Body, ...string[]])[] = [
  ['how many at once', job, spec({ parallelism: 5, completions: 1 })],
  ['not how many at all', spec({ completions: 1 }), spec({ completions: 2 }), 'spec.completions: Invalid value: 2: field is immutable'],
  [
    'not the mode',
    spec({ completions: 1 }),
    spec({ completions: 1, completionMode: 'Indexed' }),
    'spec.completionMode: Invalid value: "Indexed": field is immutable',
  ],
  ['where it will run, while it waits', waiting, withChange(waiting, 'spec/template/spec/nodeSelector', { a: 'b' })],
  ['which nodes it wants, while it waits', waiting, placed({ nodeAffinity })],
  ['which nodes it wants beside other Pods', placed({ podAffinity }), placed({ podAffinity, nodeAffinity })],
  ['that it wants any node', placed({ nodeAffinity }), waiting],
  ['the tracking of its Pods, to none', tracked, job],
  ['a tracked one', tracked, withChange(tracked, 'spec/suspend', true)],
  [
    'not the tracking of its Pods, from none',
    job,
    tracked,
    'metadata.annotations[batch.orch.io/job-tracking]: Forbidden: cannot add this annotation',
  ],
]

describe('the mutable fields of a Job', () => {
  test.each(changes.map(toChange))('have the expected errors: $name', ({ live, body, expected }) =>
    expect(problemsOf('batch/v1.Job', body, { live })).toEqual(expected),
  )

  test.each([
    ['its template', job, withChange(job, 'spec/template/spec/nodeSelector', { a: 'b' })],
    ['which nodes it wants, once it has begun', { ...waiting, status: { startTime: '2022-08-23T00:00:00Z' } }, placed({ nodeAffinity })],
    ['beside which Pods it runs', waiting, placed({ podAffinity })],
    ['beside which Pods it ran', placed({ podAffinity }), waiting],
  ])('exclude %s', (_, live, body) => {
    expect(problemsOf('batch/v1.Job', body, { live })).toEqual([
      expect.stringMatching(/^spec\.template: Invalid value: .*: field is immutable$/),
    ])
  })

  test('counts are not negative', () => {
    expect(problemsOf('batch/v1.Job', { ...job, status: { failed: -1, ready: -2 } }, { live: job, part: 'status' })).toEqual([
      'status.failed: Invalid value: -1: must be greater than or equal to 0',
      'status.ready: Invalid value: -2: must be greater than or equal to 0',
    ])
  })

  test('include uncounted Pods, which have a uid', () => {
    const status = { uncountedTerminatedPods: { succeeded: ['a', ''], failed: ['b', 'a'] } }
    expect(problemsOf('batch/v1.Job', { ...job, status }, { live: job, part: 'status' })).toEqual([
      'status.uncountedTerminatedPods.succeeded[1]: Invalid value: "": must not be empty',
      'status.uncountedTerminatedPods.failed[1]: Duplicate value: "a"',
    ])
  })
})

const cronJob: Body = { metadata: { name: 'c', namespace: 'n' }, spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template } } } }
const cron = (fields: Body): Body => ({ ...cronJob, spec: { ...(cronJob['spec'] as Body), ...fields } })

const explicit = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'

const ofCronJobs: readonly Row[] = [
  ['a sound one', cronJob],
  ['one in a zone', cron({ timeZone: 'Europe/Berlin' })],
  ['no schedule', cron({ schedule: '' }), 'spec.schedule: Required value'],
  ['a schedule that is none', cron({ schedule: '* *' }), 'spec.schedule: Invalid value: "* *": expected exactly 5 fields, found 2: [* *]'],
  [
    'two zones',
    cron({ schedule: 'TZ=UTC 0 0 * * *', timeZone: 'UTC' }),
    'spec.schedule: Invalid value: "TZ=UTC 0 0 * * *": cannot use both timeZone field and TZ or CRON_TZ in schedule',
  ],
  [
    'a zone that is none',
    cron({ timeZone: 'Mars/Olympus' }),
    'spec.timeZone: Invalid value: "Mars/Olympus": unknown time zone Mars/Olympus',
  ],
  [
    'a zone in the wrong case',
    cron({ timeZone: 'europe/berlin' }),
    'spec.timeZone: Invalid value: "europe/berlin": unknown time zone europe/berlin',
  ],
  ['a zone by its distance', cron({ timeZone: '+01:00' }), 'spec.timeZone: Invalid value: "+01:00": unknown time zone +01:00'],
  ['a zone of another folder', cron({ timeZone: '../UTC' }), 'spec.timeZone: Invalid value: "../UTC": time: invalid location name'],
  ['the zone of the server', cron({ timeZone: 'Local' }), `spec.timeZone: Invalid value: "Local": ${explicit}`],
  [
    'the zone of the server in the wrong case',
    cron({ timeZone: 'local' }),
    `spec.timeZone: Invalid value: "local": ${explicit}`,
    'spec.timeZone: Invalid value: "local": unknown time zone local',
  ],
  ['a zone without a name', cron({ timeZone: '' }), 'spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string'],
  [
    'no such policy',
    cron({ concurrencyPolicy: 'X' }),
    'spec.concurrencyPolicy: Unsupported value: "X": supported values: "Allow", "Forbid", "Replace"',
  ],
  [
    'a selector of its own',
    cron({ jobTemplate: { spec: { selector, template, manualSelector: true, backoffLimit: -1 } } }),
    'spec.jobTemplate.spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0',
    'spec.jobTemplate.spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string{"app":"a"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: `selector` will be auto-generated',
    'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
  ],
  [
    'less history than none',
    cron({ failedJobsHistoryLimit: -1 }),
    'spec.failedJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
  ],
  [
    'a long name',
    withChange(cronJob, 'metadata/name', 'a'.repeat(53)),
    `metadata.name: Invalid value: "${'a'.repeat(53)}": must be no more than 52 characters`,
  ],
]

describe('a CronJob', () => {
  test.each(ofCronJobs.map(toCase))('has the expected errors: $name', ({ body, expected }) =>
    expect(problemsOf('batch/v1.CronJob', body)).toEqual(expected),
  )
})

test('a CronJob keeps a name and a time zone that are refused in a new CronJob', () => {
  const old = withChange(cron({ timeZone: 'Mars/Olympus' }), 'metadata/name', 'a'.repeat(53))
  expect(problemsOf('batch/v1.CronJob', old)).toHaveLength(2)
  expect(problemsOf('batch/v1.CronJob', old, { live: old })).toEqual([])
  expect(problemsOf('batch/v1.CronJob', withChange(old, 'spec/timeZone', 'Mars/Hellas'), { live: old })).toHaveLength(1)
})

describe('a schedule', () => {
  test('LIM-12: with more than 100,000 characters is refused unread', () => {
    expect(findScheduleProblem(`${'1,'.repeat(50_000)} * * * *`)).toBe('must be no more than 100000 characters')
    expect(findScheduleProblem(`${'1,'.repeat(49_000)} * * * *`)).toBeUndefined()
  })

  test('with a long invalid range is refused as fast as it is parsed', () => {
    const text = `@every ${'11s'.repeat(30_000)}!`
    expect(findScheduleProblem(text)).toContain('time: invalid duration')
  })

  test.each([
    '* * * * *',
    '0 0 1 jan mon-fri',
    '0,30 8-18/2 ? * *',
    '@daily',
    '@every 1h30m',
    'CRON_TZ=UTC 5 4 * * sun',
    'TZ= * * * * *',
    'TZ=Local * * * * *',
  ])('%s is valid', (text) => {
    expect(findScheduleProblem(text)).toBeUndefined()
  })

  test.each([
    ['60 * * * *', 'end of range (60) above maximum (59): 60'],
    ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
    ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
    ['*/0 * * * *', 'step of range should be a positive number: */0'],
    ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
    ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
    ['a * * * *', 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'],
    ['@now', 'unrecognized descriptor: @now'],
    ['TZ=X/Y * * * * *', 'provided bad location X/Y: unknown time zone X/Y'],
    ['TZ=../UTC * * * * *', 'provided bad location ../UTC: time: invalid location name'],
    ['TZ=utc * * * * *', 'provided bad location utc: unknown time zone utc'],
  ])('%s is invalid', (text, problem) => {
    expect(findScheduleProblem(text)).toBe(problem)
  })
})

const jobAt = (fields: Body, level: number): string[] => problemsOf('batch/v1.Job', spec(fields), { level })
const indexed: Body = { completionMode: 'Indexed', completions: 5, parallelism: 5 }

test.each<readonly [title: string, fields: Body, expected: readonly string[]]>([
  [
    'TODAY-JOB-02: a policy for failures replaces failed Pods alone',
    { podFailurePolicy: { rules: [] }, podReplacementPolicy: 'TerminatingOrFailed' },
    ['spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"'],
  ],
  [
    'TODAY-JOB-03: FailIndex needs a limit per index',
    { podFailurePolicy: { rules: [{ action: 'FailIndex', onExitCodes: { operator: 'In', values: [1] } }] } },
    ['spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set'],
  ],
  [
    'TODAY-JOB-04: a limit per index needs indexes',
    { backoffLimitPerIndex: 1 },
    ['spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode'],
  ],
  [
    'TODAY-JOB-04: an unknown mode is the only error of its limit',
    { completionMode: '', backoffLimitPerIndex: 1 },
    ['spec.completionMode: Unsupported value: "": supported values: "NonIndexed", "Indexed"'],
  ],
  [
    'TODAY-JOB-05: indexes of a success policy grow',
    { ...indexed, successPolicy: { rules: [{ succeededIndexes: '0,4,2-3' }] } },
    [
      'spec.successPolicy.rules[0].succeededIndexes: Invalid value: "0,4,2-3": error parsing succeededIndexes: non-increasing order, previous: 4, current: 2',
    ],
  ],
  [
    'TODAY-JOB-06: a manager is a path below a domain',
    { managedBy: 'mine' },
    ['spec.managedBy: Invalid value: "mine": must be a domain-prefixed path (such as "acme.io/foo")'],
  ],
])('%s', (_title, fields, expected) => {
  expect(jobAt(fields, 37)).toEqual(expected)
})

test('TODAY-JOB-04: backoffLimitPerIndex removes the default backoffLimit', () => {
  const { backoffLimit } = completed({ ...indexed, backoffLimitPerIndex: 1 }, 37)
  expect([backoffLimit, completed({}, 37)['backoffLimit'], completed({}, 25)['podReplacementPolicy']]).toEqual([
    2_147_483_647,
    6,
    undefined,
  ])
})

const completed = (fields: Body, level: number): Body => {
  const object = structuredClone(spec(fields))
  applyDefaults('batch/v1.Job', object, namesOf('orch'), { level })
  return object['spec'] as Body
}

test('TODAY-CRON-01: time zones in schedules are refused since 1.29, unless the old schedule has one', () => {
  const cron = (schedule: string): Body => ({ metadata: { name: 'c' }, spec: { schedule, jobTemplate: { spec: { template } } } })
  const zoned = cron('TZ=UTC 0 0 * * *')
  const refusal = 'spec.schedule: Invalid value: "TZ=UTC 0 0 * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead'
  expect(problemsOf('batch/v1.CronJob', zoned, { level: 29 })).toEqual([refusal])
  expect(problemsOf('batch/v1.CronJob', zoned, { level: 29, live: cron('0 0 * * *') })).toEqual([refusal])
  expect(problemsOf('batch/v1.CronJob', zoned, { level: 29, live: zoned })).toEqual([])
  expect(problemsOf('batch/v1.CronJob', zoned, { level: 28 })).toEqual([])
})
