/* SPDX-License-Identifier: Apache-2.0
 * Bodies that are made while they are sent. The event thread sends from one piece; where it is
 * used up the connection is suspended, a worker makes the next one and resumes it. So a long answer
 * holds one piece of memory, a slow reader holds no thread, and a long answer waits in the workers'
 * queue behind others after each piece.
 *
 * While the connection is suspended the pieces are the worker's, else the event thread's. */
#include "server/http/http_internal.h"

#define BLOCK_BYTES (32u << 10) /* of a chunk: a part of the connection's memory */

void http_respond_pieces(HttpRequest *request, const char *content_type, GString *first,
                         const struct http_pieces *rest)
{
    struct http_answer *answer = &request->answer;
    struct http_stream *stream = g_new0(struct http_stream, 1);
    stream->pieces = *rest;
    stream->piece = first;
    if (http_answer_begin(request, 200, content_type))
        answer->stream = stream;
    else
        http_stream_free(stream);
}

void http_stream_free(struct http_stream *stream)
{
    if (!stream)
        return;
    if (stream->pieces.free_state)
        stream->pieces.free_state(stream->pieces.state);
    g_string_free(stream->piece, TRUE);
    g_free(stream);
}

void http_stream_make(HttpRequest *request, void *app_thread)
{
    struct http_stream *stream = request->answer.stream;
    request->app_thread = app_thread;
    g_string_truncate(stream->piece, 0);
    stream->taken = 0;
    stream->last = stream->pieces.next(request, stream->pieces.state, stream->piece);
}

/* The connection waits for a worker; false: there is none to wait for. */
static bool ask_for_piece(HttpRequest *request)
{
    HttpServer *server = request->server;
    if (!http_server_enter(server))
        return false;
    MHD_suspend_connection(request->mhd);
    if (http_workers_push(&server->workers, request))
        return true;
    request->answer.stream->last = HTTP_PIECE_FAILED;
    http_workers_resume(request);
    return true;
}

static ssize_t stream_read(void *data, uint64_t position, char *out, size_t max)
{
    HttpRequest *request = data;
    struct http_stream *stream = request->answer.stream;
    size_t left = stream->piece->len - stream->taken;
    (void)position;
    if (stream->last == HTTP_PIECE_FAILED)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (left == 0 && stream->last == HTTP_PIECE_LAST)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (left == 0)
        return ask_for_piece(request) ? 0 : MHD_CONTENT_READER_END_WITH_ERROR;
    size_t n = MIN(left, max);
    memcpy(out, stream->piece->str + stream->taken, n);
    stream->taken += n;
    request->answer.length += n;
    return (ssize_t)n;
}

/* To HEAD libmicrohttpd 0.9.75 would send the last chunk of a body of unknown length, which breaks
 * the next answer: then there is no body at all. */
struct MHD_Response *http_stream_response(HttpRequest *request)
{
    if (strcmp(request->method, "HEAD") == 0)
        return MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, stream_read, request,
                                             NULL);
}
