import { namesOf } from '@orch/core/names'
import { expect, test } from 'vitest'
import { parseSchedulerConfiguration } from './settings.ts'

const read = (profiles: unknown, rest: object = {}) =>
  parseSchedulerConfiguration(
    { apiVersion: 'kubescheduler.config.k8s.io/v1', kind: 'KubeSchedulerConfiguration', profiles, ...rest },
    namesOf('kubernetes'),
  )
const added = (addedAffinity: unknown) => [{ name: 'NodeAffinity', args: { addedAffinity } }]
const term = { matchExpressions: [{ key: 'pool', operator: 'In', values: ['batch'] }] }
const required = 'requiredDuringSchedulingIgnoredDuringExecution'

test('SCHED-32: a configuration names profiles with their added affinity; a single one is default-scheduler', () => {
  const affinity = { [required]: { nodeSelectorTerms: [term] } }
  expect(read([{ pluginConfig: added(affinity) }])).toEqual({ kind: 'configuration', profiles: new Map([['default-scheduler', affinity]]) })
  expect(read([{ schedulerName: 'a' }, { schedulerName: 'b', pluginConfig: [] }])).toEqual({
    kind: 'configuration',
    profiles: new Map([
      ['a', undefined],
      ['b', undefined],
    ]),
  })
})

test('SCHED-32, SCHED-69: every field of a configuration that the scheduler does not follow is refused by name', () => {
  const problemsOf = (profiles: unknown, rest?: object) => {
    const reading = read(profiles, rest)
    return reading.kind === 'refused' ? reading.problems : []
  }
  expect(problemsOf([])).toEqual(['profiles: Required value'])
  expect(problemsOf([{ schedulerName: 'a', plugins: {} }], { extenders: [] })).toEqual([
    'unknown field "extenders"',
    'unknown field "profiles[0].plugins"',
  ])
  expect(problemsOf([{ schedulerName: 'a' }, { schedulerName: 'a' }, {}])).toEqual([
    'profiles[1].schedulerName: Duplicate value: "a"',
    'profiles[2].schedulerName: Required value',
  ])
  expect(problemsOf([{ pluginConfig: [{ name: 'InterPodAffinity', args: {} }] }])).toEqual([
    'profiles[0].pluginConfig[0].name: Unsupported value: "InterPodAffinity": supported values: "NodeAffinity"',
  ])
  expect(problemsOf([{ pluginConfig: [{ name: 'NodeAffinity', args: { apiVersion: 'v1', kind: 'InterPodAffinityArgs' } }] }])).toEqual([
    'profiles[0].pluginConfig[0].args.apiVersion: Invalid value: "v1": must be kubescheduler.config.k8s.io/v1',
    'profiles[0].pluginConfig[0].args.kind: Invalid value: "InterPodAffinityArgs": must be NodeAffinityArgs',
  ])
  const at = `profiles[0].pluginConfig[0].args.addedAffinity.${required}`
  expect(problemsOf([{ pluginConfig: added({ [required]: { nodeSelectorTerms: [], more: 1 } }) }])).toEqual([
    `unknown field "${at}.more"`,
    `${at}.nodeSelectorTerms: Required value: must have at least one node selector term`,
  ])
  expect(problemsOf([{ pluginConfig: added({ [required]: 7 }) }])).toHaveLength(1)
})
