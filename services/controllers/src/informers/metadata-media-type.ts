import { domainGroup, type Names } from '@orch/core/names'

/**
 * The media type of objects without their kind's own members. It needs no conversion between versions. Aggregated servers that do not
 * know it answer whole objects.
 */
export function metadataMediaType(names: Names): string {
  return `application/json;as=PartialObjectMetadata;v=v1;g=${domainGroup(names, 'meta')},application/json`
}

/** As `metadataMediaType`, of lists. */
export function metadataListMediaType(names: Names): string {
  return `application/json;as=PartialObjectMetadataList;v=v1;g=${domainGroup(names, 'meta')},application/json`
}
