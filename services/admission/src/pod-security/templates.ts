import type { ApiObject } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import { subdomainLabel } from '@orch/core/names'
import { seccompKeys } from './baseline.ts'
import type { ContainerView, PodSpecView, PodView } from './pod.ts'

/** Resources that make Pods of a template, by group. */
export const templateResources: Readonly<Record<string, readonly string[]>> = {
  '': ['replicationcontrollers', 'podtemplates'],
  apps: ['daemonsets', 'deployments', 'replicasets', 'statefulsets'],
  batch: ['cronjobs', 'jobs'],
}

interface Template {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> }
  readonly spec?: PodSpecView
}

interface TemplateHolder {
  readonly template?: Template
  readonly spec?: { readonly template?: Template; readonly jobTemplate?: { readonly spec?: { readonly template?: Template } } }
}

/** What the checks read of a Pod. */
export function podView(pod: unknown): PodView {
  // The gateway has validated it.
  const { metadata, spec } = pod as ApiObject & { readonly spec?: PodSpecView }
  return { annotations: metadata.annotations ?? {}, spec: spec ?? {} }
}

/** The template of a workload; undefined: it has none. */
export function templateView(resource: string, object: unknown): PodView | undefined {
  // The gateway has validated it.
  const holder = object as TemplateHolder
  const template = templateOf(resource, holder)
  return template?.spec === undefined ? undefined : { annotations: template.metadata?.annotations ?? {}, spec: template.spec }
}

function templateOf(resource: string, { template, spec }: TemplateHolder): Template | undefined {
  if (resource === 'podtemplates') return template
  return resource === 'cronjobs' ? spec?.jobTemplate?.spec?.template : spec?.template
}

/** Whether an update changes anything that the checks read; the rest of a Pod stays as it was created. */
export function isSignificantUpdate(after: PodView, before: PodView, names: Names): boolean {
  const { pod, containerPrefix } = seccompKeys(names)
  const appArmorPrefix = subdomainLabel(names, 'container.apparmor.security.beta', '')
  const changed = [...new Set([...Object.keys(after.annotations), ...Object.keys(before.annotations)])].filter(
    (key) => after.annotations[key] !== before.annotations[key],
  )
  if (changed.some((key) => key === pod || key.startsWith(containerPrefix) || key.startsWith(appArmorPrefix))) return true
  return lists.some((list) => isListChanged(after.spec[list] ?? [], before.spec[list] ?? []))
}

const lists = ['containers', 'initContainers', 'ephemeralContainers'] as const

function isListChanged(after: readonly ContainerView[], before: readonly ContainerView[]): boolean {
  if (after.length !== before.length) return true
  const images = new Map(before.map(({ name, image }) => [name, image]))
  return after.some(({ name, image }) => !images.has(name) || images.get(name) !== image)
}
