import { isJsonObject, jsonEqual } from '@orch/core/json'
import { domainGroup } from '@orch/core/names'
import { allowed, type Plugin, type PluginNeeds } from '../plugin.ts'
import { checkRight } from './certificate-signer.ts'
import { metadataOf } from './objects.ts'

/** ClusterTrustBundleAttest: a client that writes a bundle of a signer needs the right `attest` for the signer. */
export function trustBundleAttest({ catalogue: { names } }: PluginNeeds): Plugin {
  const groups = [domainGroup(names, 'certificates')]
  return {
    admissionRules: [{ phase: 'validate', operations: ['CREATE', 'UPDATE'], groups, resources: ['clustertrustbundles'], namespaces: [] }],
    validate(attributes, inquiry) {
      const { operation, object, oldObject } = attributes
      const signerName = signerOf(object)
      if (signerName === '') return allowed
      // The garbage collector, and a storage migration, may write any bundle.
      if (operation === 'UPDATE' && jsonEqual(withoutOwners(object), withoutOwners(oldObject))) return allowed
      return checkRight(attributes, inquiry, { signerName, verb: 'attest', names, refusal: 'user not permitted to attest for signerName' })
    },
  }
}

/** In each version of the kind. */
function signerOf(bundle: unknown): string {
  const spec = isJsonObject(bundle) ? bundle['spec'] : undefined
  const name = isJsonObject(spec) ? spec['signerName'] : undefined
  return typeof name === 'string' ? name : ''
}

/** A bundle without the fields that the garbage collector changes. */
function withoutOwners(bundle: unknown): unknown {
  if (!isJsonObject(bundle)) return bundle
  const { finalizers: _finalizers, ownerReferences: _owners, managedFields: _fields, ...metadata } = metadataOf(bundle)
  return { ...bundle, metadata }
}
