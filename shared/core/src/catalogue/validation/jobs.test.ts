import { describe, expect, test } from 'vitest'
import { findScheduleProblem } from './cron-schedule.ts'
import { type Body, problemsOf, withChange } from './rules-testing.ts'

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

/** A row with names for its cells: what follows them is expected. */
const toCase = ([name, body, ...expected]: Row) => ({ name, body, expected })

/** A change with names for its cells. */
const toChange = ([name, live, body, ...expected]: readonly [string, Body, Body, ...string[]]) => ({ name, live, body, expected })

const failing = (rule: Body): Body => spec({ podFailurePolicy: { rules: [rule] } })
const rule = 'spec.podFailurePolicy.rules[0]'

const ofJobs: readonly Row[] = [
  ['a sound one', job],
  ['one whose selector was made for it', generated],
  [
    'a selector that was made for another',
    withChange(generated, 'metadata/uid', 'v'),
    `spec.template.metadata.labels[controller-uid]: Invalid value: {"controller-uid":"u","job-name":"j"}: must be 'v'`,
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
    `${rule}: Invalid value: "": specifying one of OnExitCodes and OnPodConditions is required`,
  ],
  [
    'codes in order',
    failing({ action: 'Ignore', onExitCodes: { operator: 'NotIn', values: [2, 1] } }),
    `${rule}.onExitCodes.values: Invalid value: [2,1]: must be ordered`,
  ],
  [
    'success is no failure',
    failing({ action: 'Count', onExitCodes: { operator: 'In', values: [0] } }),
    `${rule}.onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator`,
  ],
]

describe('a new Job', () => {
  test.each(ofJobs.map(toCase))('$name', ({ body, expected }) => expect(problemsOf('batch/v1.Job', body)).toEqual(expected))
})

const waiting: Body = spec({ suspend: true })

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
]

describe('what may change in a Job', () => {
  test.each(changes.map(toChange))('$name', ({ live, body, expected }) =>
    expect(problemsOf('batch/v1.Job', body, { live })).toEqual(expected),
  )

  test('not its template', () => {
    const body = withChange(job, 'spec/template/spec/nodeSelector', { a: 'b' })
    expect(problemsOf('batch/v1.Job', body, { live: job })).toEqual([
      expect.stringMatching(/^spec\.template: Invalid value: .*: field is immutable$/),
    ])
  })

  test('counts are not negative', () => {
    expect(problemsOf('batch/v1.Job', { ...job, status: { failed: -1 } }, { live: job, part: 'status' })).toEqual([
      'status.failed: Invalid value: -1: must be greater than or equal to 0',
    ])
  })
})

const cronJob: Body = { metadata: { name: 'c', namespace: 'n' }, spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template } } } }
const cron = (fields: Body): Body => ({ ...cronJob, spec: { ...(cronJob['spec'] as Body), ...fields } })

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
  ['a zone without a name', cron({ timeZone: '' }), 'spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string'],
  [
    'no such policy',
    cron({ concurrencyPolicy: 'X' }),
    'spec.concurrencyPolicy: Unsupported value: "X": supported values: "Allow", "Forbid", "Replace"',
  ],
  [
    'a selector of its own',
    cron({ jobTemplate: { spec: { selector, template } } }),
    'spec.jobTemplate.spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string{"app":"a"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: `selector` will be auto-generated',
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
  test.each(ofCronJobs.map(toCase))('$name', ({ body, expected }) => expect(problemsOf('batch/v1.CronJob', body)).toEqual(expected))
})

describe('a schedule', () => {
  test('whose span is long and wrong is refused as fast as it is read', () => {
    const text = `@every ${'11s'.repeat(30_000)}!`
    expect(findScheduleProblem(text)).toContain('time: invalid duration')
  })

  test.each(['* * * * *', '0 0 1 jan mon-fri', '0,30 8-18/2 ? * *', '@daily', '@every 1h30m', 'CRON_TZ=UTC 5 4 * * sun'])(
    '%s is one',
    (text) => {
      expect(findScheduleProblem(text)).toBeUndefined()
    },
  )

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
  ])('%s is none', (text, problem) => {
    expect(findScheduleProblem(text)).toBe(problem)
  })
})
