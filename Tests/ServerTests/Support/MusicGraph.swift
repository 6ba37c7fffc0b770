/// A small graph with filters and orders on every type: artists, their albums, the tracks of those,
/// and playlists of tracks.
enum MusicGraph {
  static let sdl = """
    scalar JSON @scalar(type: "jsonb")
    scalar TextSearch @scalar(type: "tsvector")
    scalar Decimal @scalar(type: "numeric")
    scalar Date @scalar(type: "date")
    scalar UUID @scalar(type: "uuid")
    scalar BigInt @scalar(type: "int8")
    enum Genre { ROCK JAZZ HIP_HOP @value(sql: "'hip-hop'") }
    enum Rank { LOW @value(sql: "1") HIGH @value(sql: "2") }

    type Artist @table(name: "artist", key: "artist_id") {
      artistId: Int!
      name: String
      country: String!
      born: Date
      albums(filter: AlbumFilter, orderBy: [AlbumOrder!]): AlbumConnection!
        @connection(where: "this.artist_id = parent.artist_id")
      mentor: Artist @reference(column: "mentor_id")
      students: [Artist!]! @list(where: "this.mentor_id = parent.artist_id", orderBy: "this.artist_id")
      shout: String @sql(expression: "upper(this.name)")
      secret: String @confidential
    }
    type Album @table(name: "album", key: "album_id") {
      albumId: Int!
      title: String!
      released: Int
      genre: Genre
      rank: Rank
      price: Decimal
      plays: BigInt!
      code: UUID
      tags: [String!]
      years: [Int!]
      genres: [Genre!]
      details: JSON
      search: TextSearch
      isLive: Boolean!
      artist: Artist @reference(column: "artist_id")
      tracks(filter: TrackFilter, orderBy: [TrackOrder!]): TrackConnection!
        @connection(where: "this.album_id = parent.album_id")
    }
    type Track @table(name: "track", key: "track_id") {
      trackId: Int!
      title: String!
      seconds: Int
      album: Album! @reference(column: "album_id")
      playlists(filter: PlaylistFilter, orderBy: [PlaylistOrder!]): PlaylistConnection!
        @connection(
          from: "playlist_track", on: "this.playlist_id = edge.playlist_id", where: "edge.track_id = parent.track_id"
        )
    }
    type Playlist @table(name: "playlist", key: "playlist_id") {
      playlistId: Int!
      name: String!
      owner: Artist @reference(column: "owner_id")
      tracks(filter: TrackFilter, orderBy: [TrackOrder!]): TrackConnection!
        @connection(
          from: "playlist_track", on: "this.track_id = edge.track_id", where: "edge.playlist_id = parent.playlist_id"
        )
    }
    type PlaylistTrack @table(name: "playlist_track", key: "playlist_id, track_id") {
      playlistId: Int!
      trackId: Int!
      track: Track! @reference(column: "track_id")
    }
    type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }

    input ArtistFilter @filter(of: "Artist")
    input ArtistOrder @order(of: "Artist")
    input AlbumFilter @filter(of: "Album")
    input AlbumOrder @order(of: "Album")
    input TrackFilter @filter(of: "Track")
    input TrackOrder @order(of: "Track")
    input PlaylistFilter @filter(of: "Playlist")
    input PlaylistOrder @order(of: "Playlist")
    input PlaylistTrackFilter @filter(of: "PlaylistTrack")
    input PlaylistTrackOrder @order(of: "PlaylistTrack")

    type Query {
      artists(filter: ArtistFilter, orderBy: [ArtistOrder!]): ArtistConnection! @connection
      albums(filter: AlbumFilter, orderBy: [AlbumOrder!]): AlbumConnection! @connection
      tracks(filter: TrackFilter, orderBy: [TrackOrder!]): TrackConnection! @connection
      playlists(filter: PlaylistFilter, orderBy: [PlaylistOrder!]): PlaylistConnection! @connection
      playlistTracks(filter: PlaylistTrackFilter, orderBy: [PlaylistTrackOrder!]): PlaylistTrackConnection! @connection
      albumList(filter: AlbumFilter, orderBy: [AlbumOrder!], limit: Int! = 100): [Album!]! @list
      album(albumId: Int!, filter: AlbumFilter): Album @reference(where: "this.album_id = :albumId")
    }
    """

  static let sql = """
    CREATE TYPE genre AS ENUM ('ROCK', 'JAZZ', 'hip-hop');
    CREATE TABLE artist (
      artist_id int PRIMARY KEY, name varchar(80) COLLATE "C", country text COLLATE "C" NOT NULL, born date,
      mentor_id int REFERENCES artist, secret text);
    CREATE TABLE album (
      album_id int PRIMARY KEY, title text COLLATE "C" NOT NULL, released int, genre genre, rank smallint, price numeric(8, 2),
      plays bigint NOT NULL, code uuid, tags text[], years bigint[], genres genre[], details jsonb,
      search tsvector, is_live boolean NOT NULL, artist_id int REFERENCES artist);
    CREATE TABLE track (
      track_id int PRIMARY KEY, title text COLLATE "C" NOT NULL, seconds int, album_id int NOT NULL REFERENCES album);
    CREATE TABLE playlist (playlist_id int PRIMARY KEY, name text COLLATE "C" NOT NULL, owner_id int REFERENCES artist);
    CREATE TABLE playlist_track (
      playlist_id int REFERENCES playlist, track_id int REFERENCES track, PRIMARY KEY (playlist_id, track_id));
    CREATE FUNCTION pick(seed text, n int) RETURNS int IMMUTABLE LANGUAGE sql AS
      'SELECT (hashtext(seed) & 1073741823) % n';
    INSERT INTO artist
      SELECT i, CASE WHEN pick('n' || i, 7) > 0 THEN (ARRAY['Ada', 'bo', 'Cy_', 'D%d', 'Ella', 'Ada'])[1 + pick('m' || i, 6)] END,
        (ARRAY['DE', 'FR', 'US'])[1 + pick('c' || i, 3)],
        CASE WHEN pick('b' || i, 4) > 0 THEN date '1950-01-01' + pick('d' || i, 15000) END,
        CASE WHEN i > 3 AND pick('t' || i, 3) > 0 THEN 1 + pick('u' || i, i - 1) END, 'secret'
      FROM generate_series(1, 20) i;
    INSERT INTO album
      SELECT i, (ARRAY['Blue', 'blue', 'Red_1', '100%', 'Gold', 'Über'])[1 + pick('a' || i, 6)],
        CASE WHEN pick('r' || i, 6) > 0 THEN 1960 + pick('y' || i, 60) END,
        CASE WHEN pick('g' || i, 5) > 0 THEN (enum_range(NULL::genre))[1 + pick('h' || i, 3)] END,
        CASE WHEN pick('k' || i, 5) > 0 THEN 1 + pick('l' || i, 2) END,
        CASE WHEN pick('p' || i, 5) > 0 THEN pick('q' || i, 3000)::numeric / 100 END,
        9007199254740993 + pick('w' || i, 5),
        CASE WHEN pick('e' || i, 4) > 0 THEN md5('f' || pick('f' || i, 9))::uuid END,
        CASE WHEN pick('o' || i, 4) > 0 THEN (ARRAY['new', 'old', 'a,b', 'x"y'])[1:pick('s' || i, 5)] END,
        CASE WHEN pick('z' || i, 4) > 0 THEN ARRAY[2000 + pick('v' || i, 3), 2010] END,
        CASE WHEN pick('x' || i, 4) > 0 THEN (enum_range(NULL::genre))[1:pick('ab' || i, 4)] END,
        CASE WHEN pick('ac' || i, 4) > 0 THEN jsonb_build_object('label', 'L' || pick('ad' || i, 3), 'n', pick('ae' || i, 4)) END,
        CASE WHEN pick('af' || i, 5) > 0 THEN to_tsvector('simple', (ARRAY['the quick fox', 'a lazy dog', 'quick dogs'])[1 + pick('ag' || i, 3)]) END,
        pick('ah' || i, 2) = 0, CASE WHEN pick('ai' || i, 9) > 0 THEN 1 + pick('aj' || i, 18) END
      FROM generate_series(1, 60) i;
    INSERT INTO track
      SELECT i, (ARRAY['Intro', 'Song', 'Outro', 'intro'])[1 + pick('ta' || i, 4)],
        CASE WHEN pick('tb' || i, 6) > 0 THEN pick('tc' || i, 600) END, 1 + pick('td' || i, 50)
      FROM generate_series(1, 150) i;
    INSERT INTO playlist
      SELECT i, (ARRAY['Party', 'Sleep', 'Run'])[1 + pick('pa' || i, 3)],
        CASE WHEN pick('pb' || i, 4) > 0 THEN 1 + pick('pc' || i, 20) END
      FROM generate_series(1, 12) i;
    INSERT INTO playlist_track
      SELECT DISTINCT 1 + pick('pd' || i, 11), 1 + pick('pe' || i, 140) FROM generate_series(1, 120) i;
    """
}
