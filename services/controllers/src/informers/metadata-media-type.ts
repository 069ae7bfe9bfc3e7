import { domainGroup, type Names } from '@orch/core/names'

/** The media type of PartialObjectMetadata. It needs no conversion between versions. Aggregated servers that do not support it return whole objects. */
export function metadataMediaType(names: Names): string {
  return `application/json;as=PartialObjectMetadata;v=v1;g=${domainGroup(names, 'meta')},application/json`
}

export function metadataListMediaType(names: Names): string {
  return `application/json;as=PartialObjectMetadataList;v=v1;g=${domainGroup(names, 'meta')},application/json`
}
