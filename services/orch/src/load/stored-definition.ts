import { isJsonObject } from '@orch/core/json'
import type { ApiObject } from '@orch/core/meta'

type Members = Readonly<Record<string, unknown>>

/** The stored version, by group. */
const storedVersion = /^(apiextensions\..*)\/v1beta1$/

/**
 * Converts a definition from the form in which kube-apiserver stores it (v1beta1, with common parts outside of the versions) to the form that clients
 * use.
 */
export function readDefinition(object: ApiObject): ApiObject {
  const { spec }: Members = object
  const [, group] = storedVersion.exec(object.apiVersion) ?? []
  if (group === undefined || object.kind !== 'CustomResourceDefinition' || !isJsonObject(spec)) return object
  const { version, versions, validation, subresources, additionalPrinterColumns, conversion, preserveUnknownFields, ...rest } = spec
  const given = Array.isArray(versions) ? versions.filter(isJsonObject) : [{ name: version, served: true, storage: true }]
  const read = given.map((one) => readVersion({ schema: validation, subresources, additionalPrinterColumns, ...one }))
  const converted = isJsonObject(conversion) ? { conversion: readConversion(conversion) } : {}
  const preserved = preserveUnknownFields === true ? { preserveUnknownFields } : {}
  const full = { ...object, apiVersion: `${group}/v1`, spec: { ...rest, ...preserved, versions: read, ...converted } }
  return full
}

function readVersion({ schema, subresources, additionalPrinterColumns, ...rest }: Members): Members {
  const columns = Array.isArray(additionalPrinterColumns) ? additionalPrinterColumns.filter(isJsonObject).map(readColumn) : undefined
  return {
    ...rest,
    ...(schema === undefined ? {} : { schema }),
    ...(subresources === undefined ? {} : { subresources }),
    ...(columns === undefined ? {} : { additionalPrinterColumns: columns }),
  }
}

function readColumn({ JSONPath: jsonPath, ...rest }: Members): Members {
  return { ...rest, jsonPath }
}

function readConversion({ strategy, webhookClientConfig: clientConfig, conversionReviewVersions }: Members): Members {
  return strategy === 'Webhook' ? { strategy, webhook: { clientConfig, conversionReviewVersions } } : { strategy }
}
