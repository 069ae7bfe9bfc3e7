import { playFile } from './play-file.ts'

/** The recorder had samples of Pods as custom objects. */
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'pods.metrics.k8s.io', annotations: { 'api-approved.kubernetes.io': 'unapproved, for tests' } },
  spec: {
    group: 'metrics.k8s.io',
    scope: 'Namespaced',
    names: { plural: 'pods', singular: 'podmetrics', kind: 'PodMetrics', listKind: 'PodMetricsList' },
    versions: [
      {
        name: 'v1beta1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}
const zero = ['initial-readiness-delay', 'cpu-initialization-period'].map((name) => `--horizontal-pod-autoscaler-${name}=0s`)

const settings = { objects: [definition], flags: ['--horizontal-pod-autoscaler-sync-period=3s', ...zero] }

playFile('hpa.jsonl', {
  level: '1.37',
  shows: {
    'hpa-no-metrics': '10 11',
    'hpa-up': '03 06 12 14',
    'hpa-average-value': '30',
    'hpa-two-metrics': '10 11 30',
    'hpa-selector-twice': '09',
  },
  ...settings,
})
playFile('hpa-1.34.jsonl', { level: '1.34', ...settings })
playFile('hpa-1.25.jsonl', { level: '1.25', ...settings })
