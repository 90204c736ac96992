/** A typed client of the Household Ledger and Community Board Service. */

import createFetchClient, { type Client, type Middleware } from "openapi-fetch";

import { parseJson, writeJson } from "./decimals.js";
import type { components, paths } from "./schema.js";

export type { Decimal } from "./decimals.js";
export type { components, operations, paths } from "./schema.js";
export type LedgerClient = Client<paths>;
/** What every refusal answers; `code` tells the reason to a program. */
export type Problem = components["schemas"]["Problem"];

export interface Options {
  /** Of the service, without a path: https://ledger.example.com */
  baseUrl: string;
  /** Of a session (`signUp`, `logIn`); called for each request. */
  getToken?: () => string | undefined;
  /** Of refusals, as in the header Accept-Language: "ko". */
  language?: string;
}

export function createClient({ baseUrl, getToken, language }: Options): LedgerClient {
  const client = createFetchClient<paths>({ baseUrl, bodySerializer: writeBody });
  const headers: Middleware = {
    onRequest({ request }) {
      const token = getToken?.();
      if (token !== undefined) {
        request.headers.set("Authorization", `Bearer ${token}`);
      }
      if (language !== undefined) {
        request.headers.set("Accept-Language", language);
      }
      return request;
    },
    async onResponse({ response }) {
      const isJson = response.headers.get("Content-Type")?.startsWith("application/json");
      return isJson ? LosslessResponse.read(response) : response;
    },
  };
  client.use(headers);
  return client;
}

/** A response whose JSON is parsed without a loss of digits. */
class LosslessResponse extends Response {
  static async read(response: Response): Promise<LosslessResponse> {
    const text = await response.text();
    const headers = new Headers(response.headers);
    // Without it the library would parse the text by itself.
    headers.set("Content-Length", String(text.length));
    const { status, statusText } = response;
    return new LosslessResponse(text, { headers, status, statusText });
  }

  override async json(): Promise<unknown> {
    return parseJson(await this.text());
  }
}

/** Writes JSON, or a form where a field is a file. */
function writeBody(body: unknown): string | FormData {
  const fields = Object.entries(body ?? {});
  if (!fields.some(([, value]) => value instanceof Blob)) {
    return writeJson(body);
  }
  const form = new FormData();
  for (const [name, value] of fields) {
    form.append(name, value instanceof Blob ? value : String(value));
  }
  return form;
}
