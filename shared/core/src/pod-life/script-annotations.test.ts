import { expect, test } from 'vitest'
import { namesOf } from '../names.ts'
import type { Pod } from '../workloads/pods.ts'
import { readAnnotations } from './script-annotations.ts'

function wordsOf(annotations: Record<string, string>) {
  const containers = [
    { name: 'a', resources: {} },
    { name: 'b', resources: {} },
  ]
  const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', annotations }, spec: { containers }, status: {} }
  const { words, problems } = readAnnotations(pod, new Set(['a', 'b']), namesOf('kubernetes'))
  return { words: Object.fromEntries(words), problems }
}

test('annotations of kwok give the delays and the usage of all containers', () => {
  const { words, problems } = wordsOf({
    'pod-create.stage.kwok.x-k8s.io/delay': '1s',
    'pod-ready.stage.kwok.x-k8s.io/delay': '2s',
    'pod-complete.stage.kwok.x-k8s.io/delay': '1m',
    'pod-delete.stage.kwok.x-k8s.io/delay': '3s',
    'kwok.x-k8s.io/usage-cpu': '100m',
    'kwok.x-k8s.io/usage-memory': '64Mi',
  })
  const usage = [{ atMs: 0, nanoCores: 100_000_000, bytes: 64 * 1024 * 1024 }]
  const expected = { pull: { ms: 1000 }, startMs: 2000, runMs: 60_000, shutdown: { ms: 3000 }, usage }
  expect(words).toMatchObject({ a: expected, b: expected })
  expect(problems).toEqual([])
})

test('annotations of this server override those of kwok, and an invalid one is reported by name', () => {
  const { words, problems } = wordsOf({
    'pod-complete.stage.kwok.x-k8s.io/delay': '1m',
    'simulation.orch.io/run-for': '5s',
    'kwok.x-k8s.io/usage-cpu': 'much',
    'pod-ready.stage.kwok.x-k8s.io/delay': 'soon',
  })
  expect(words).toMatchObject({ a: { runMs: 5000 } })
  expect(problems).toEqual([
    'annotation pod-ready.stage.kwok.x-k8s.io/delay: "soon": must be a duration such as 30s or 1m30s',
    'annotation kwok.x-k8s.io/usage: "cpu=much": must be amounts such as 100m and 64Mi',
  ])
})
