import { type Catalogue, createCatalogue } from '@orch/core/catalogue'
import type { AdmissionService, Attributes } from '@orch/core/contracts'
import { expect, test } from 'vitest'
import { everythingServed, readApi } from '../api/settings.ts'
import { catalogueOf } from '../surroundings.ts'
import { withUnservedVersions } from './gateway.ts'

const everything = catalogueOf(everythingServed('orch'))
const served = (...runtimeConfig: string[]) => catalogueOf(readApi({ profile: 'orch', runtimeConfig, featureGates: [] }))

/** Admission's input for a write of an autoscaler from a gateway that serves these versions. */
async function toldBy(catalogue: Catalogue, resource = 'horizontalpodautoscalers') {
  const asked: Attributes[] = []
  const admission = {
    admit: async ({ attributes }: { attributes: Attributes }) => void asked.push(attributes),
  } as unknown as AdmissionService
  const attributes = { group: 'autoscaling', version: 'v2', resource } as Attributes
  const question = { phase: 'validate', attributes, decisions: [], resumeAt: '', explain: false }
  await withUnservedVersions(admission, catalogue, everything).admit(question)
  return asked[0]?.unserved
}

test('ADM-FLOW-18: admission in another process receives the versions of a resource that the gateway does not serve', async () => {
  expect(await toldBy(served('autoscaling/v1=false'))).toEqual(['autoscaling/v1/horizontalpodautoscalers'])
})

test('no equivalents are sent if all versions are served, and none of other resources', async () => {
  expect(await toldBy(createCatalogue('orch'))).toBeUndefined()
  expect(await toldBy(served('autoscaling/v1=false'), 'scales')).toBeUndefined()
})
